//! Breaks things, from a seed: processes, the network, the database.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use crate::{
    checker::Pause,
    replicas::{LEASE, Signal},
    trial::Trial,
};

/// How often each thing is done, relative to the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Temper {
    pub kills: u32,
    pub pauses: u32,
    pub stops: u32,
    /// Connections ended by the database.
    pub terminations: u32,
    /// Answers of the database swallowed by the network.
    pub cuts: u32,
    /// How often the database freezes: it answers nothing, and no connection breaks.
    pub freezes: u32,
    /// How many leases a freeze lasts at least; at most two more.
    pub freeze_leases: u32,
    /// How often the database is stopped, spread over the time.
    pub outages: u32,
    /// The longest time between two deeds.
    pub rest: Duration,
}

/// Some of everything.
pub(crate) const EVERYTHING: Temper = Temper {
    kills: 25,
    pauses: 25,
    stops: 10,
    terminations: 20,
    cuts: 40,
    freezes: 6,
    freeze_leases: 1,
    outages: 4,
    rest: Duration::from_millis(800),
};

/// Mostly pauses: a replica that wakes up must notice that it has lost everything.
pub(crate) const PAUSES: Temper = Temper {
    kills: 1,
    pauses: 8,
    stops: 0,
    terminations: 0,
    cuts: 0,
    freezes: 0,
    freeze_leases: 1,
    outages: 0,
    rest: Duration::from_millis(500),
};

/// Mostly a frozen database: waiting clients give up.
pub(crate) const FREEZES: Temper = Temper {
    kills: 0,
    pauses: 0,
    stops: 0,
    terminations: 0,
    cuts: 0,
    freezes: 1,
    freeze_leases: 1,
    outages: 0,
    rest: Duration::from_millis(500),
};

/// A database that stays frozen until every lease, statement and wait for a connection is over several times.
pub(crate) const LONG_FREEZES: Temper =
    Temper { freeze_leases: 8, rest: Duration::from_secs(4), ..FREEZES };

/// Mostly commits without an answer.
pub(crate) const SILENCE: Temper = Temper {
    kills: 0,
    pauses: 0,
    stops: 0,
    terminations: 3,
    cuts: 3,
    freezes: 0,
    freeze_leases: 1,
    outages: 0,
    rest: Duration::from_millis(200),
};

/// Breaks things for a while, and lets everybody run again at the end.
pub(crate) async fn rage(trial: &mut Trial, temper: Temper, time: Duration) {
    let begun = trial.clock.monotonic();
    let mut outages = 0;
    let mut next_deed = begun;
    let mut next_look = begun;
    loop {
        let now = trial.clock.monotonic();
        let gone = now.saturating_sub(begun);
        if gone >= time {
            break;
        }
        resume(trial, now).await;
        if now >= next_look {
            next_look = now + Duration::from_secs(1);
            trial.watch_finals().await;
        }
        if outages < temper.outages && gone > time * (outages + 1) / (temper.outages + 1) {
            outages += 1;
            outage(trial).await;
        }
        if now >= next_deed {
            act(trial, temper).await;
            next_deed = now + temper.rest.mul_f64(trial.random.f64());
        }
        trial.clock.sleep(Duration::from_millis(20)).await;
    }
    calm(trial).await;
}

/// Ends all faults: everybody runs again.
async fn calm(trial: &mut Trial) {
    resume(trial, Duration::MAX).await;
    trial.client_link.cut(0);
    for slot in &trial.slots {
        slot.link.cut(0);
    }
}

/// Continues those whose pause is over.
async fn resume(trial: &mut Trial, now: Duration) {
    for slot in &mut trial.slots {
        if slot.paused_until.take_if(|until| *until <= now).is_some() {
            slot.process.signal(Signal::Continue).await;
            let label = &slot.process.label;
            if let Some(pause) = trial.pauses.iter_mut().rev().find(|p| p.process == *label) {
                pause.until = trial.clock.now();
            }
        }
    }
}

async fn act(trial: &mut Trial, temper: Temper) {
    let Temper { kills, pauses, stops, terminations, cuts, freezes, .. } = temper;
    let at = trial.random.usize(0..trial.slots.len());
    let mut throw = trial.random.u32(0..kills + pauses + stops + terminations + cuts + freezes);
    let mut falls_on = |weight: u32| {
        let hit = throw < weight;
        throw = throw.saturating_sub(weight);
        hit
    };
    if falls_on(kills) {
        kill(trial, at).await;
    } else if falls_on(pauses) {
        pause(trial, at).await;
    } else if falls_on(stops) {
        stop(trial, at);
    } else if falls_on(terminations) {
        terminate(trial).await;
    } else if falls_on(cuts) {
        cut(trial, at);
    } else {
        freeze(trial, temper.freeze_leases).await;
    }
}

/// Kills a replica and starts another one: under the old name it may take over at once, under a new
/// one it must wait.
pub(crate) async fn kill(trial: &mut Trial, at: usize) {
    trial.did("kills");
    trial.slots[at].process.kill().await;
    let same = trial.random.bool().then(|| trial.slots[at].process.name.clone());
    trial.replace(at, same.as_deref());
}

/// Stops a replica where it stands, mostly for longer than its lease.
async fn pause(trial: &mut Trial, at: usize) {
    if trial.slots[at].paused_until.is_some() {
        return;
    }
    trial.did("pauses");
    let time = LEASE.mul_f64(0.5 + 2.0 * trial.random.f64());
    let slot = &mut trial.slots[at];
    slot.process.signal(Signal::Stop).await;
    slot.paused_until = Some(trial.clock.monotonic() + time);
    let process = slot.process.label.clone();
    trial.pauses.push(Pause { process, until: trial.clock.now() + time });
}

/// Lets a replica end in order while another one starts in its place.
fn stop(trial: &mut Trial, at: usize) {
    if trial.slots[at].paused_until.is_some() {
        return;
    }
    trial.did("orderly stops");
    let old = trial.replace(at, None);
    let clock = trial.clock.clone();
    trial.stops.spawn(old.stop(clock));
}

/// Lets the database end some of the connections, above all those that are at work.
async fn terminate(trial: &mut Trial) {
    trial.did("terminations");
    let some = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE application_name = 'kcp' AND pid <> pg_backend_pid()
                  AND random() < CASE WHEN state = 'active' THEN 0.8 ELSE 0.2 END";
    let url = trial.server.url("postgres");
    let terminated = async {
        let mut connection = PgConnection::connect(&url).await?;
        sqlx::query(some).execute(&mut connection).await?;
        connection.close().await
    };
    // A database that is just coming back has nothing to end.
    let _ = timeout(Duration::from_secs(2), terminated).await;
}

/// Lets the network swallow some answers.
fn cut(trial: &mut Trial, at: usize) {
    trial.did("cuts");
    let answers = trial.random.u32(1..=4);
    trial.slots[at].link.cut(answers);
    if trial.random.f64() < 0.5 {
        trial.client_link.cut(answers);
    }
}

/// Lets the database stand still for longer than leases live.
async fn freeze(trial: &mut Trial, leases: u32) {
    trial.did("freezes");
    let from = trial.clock.now();
    trial.server.freeze().await;
    trial.clock.sleep(LEASE.mul_f64(f64::from(leases) + 2.0 * trial.random.f64())).await;
    trial.server.thaw().await;
    trial.outages.push((from, trial.clock.now()));
}

/// Crashes the database, now and then with a replica, and lets it recover.
async fn outage(trial: &mut Trial) {
    trial.did("outages");
    let from = trial.clock.now();
    trial.server.stop_immediately().await;
    if trial.random.bool() {
        let at = trial.random.usize(0..trial.slots.len());
        kill(trial, at).await;
    }
    let time = trial.random.u64(200..2_000);
    trial.clock.sleep(Duration::from_millis(time)).await;
    trial.server.start_again().await;
    trial.outages.push((from, trial.clock.now()));
}
