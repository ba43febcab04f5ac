//! Breaks things, from a seed: processes, the network, the database.

mod acts;
mod tempers;

use std::time::Duration;

use crate::{replicas::Signal, trial::Trial};
use acts::{cut, freeze, outage, pause, stop, terminate};

pub(crate) use acts::kill;
pub(crate) use tempers::{EVERYTHING, FREEZES, PAUSES, SILENCE, Temper};

/// A database that stays frozen until every lease, statement and wait for a connection is over several times.
pub(crate) const LONG_FREEZES: Temper =
    Temper { freeze_leases: 8, rest: Duration::from_secs(4), ..FREEZES };

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
