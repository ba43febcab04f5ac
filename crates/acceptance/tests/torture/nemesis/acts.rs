//! What the nemesis does to processes, the network and the database, and how each is undone.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use crate::{
    checker::Pause,
    replicas::{LEASE, Signal},
    trial::Trial,
};

/// Kills a replica and starts another one: under the old name it may take over at once, under a new
/// one it must wait.
pub(crate) async fn kill(trial: &mut Trial, at: usize) {
    trial.did("kills");
    trial.slots[at].process.kill().await;
    let same = trial.random.bool().then(|| trial.slots[at].process.name.clone());
    trial.replace(at, same.as_deref());
}

/// Stops a replica where it stands, mostly for longer than its lease.
pub(super) async fn pause(trial: &mut Trial, at: usize) {
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
pub(super) fn stop(trial: &mut Trial, at: usize) {
    if trial.slots[at].paused_until.is_some() {
        return;
    }
    trial.did("orderly stops");
    let old = trial.replace(at, None);
    let clock = trial.clock.clone();
    trial.stops.spawn(old.stop(clock));
}

/// Lets the database end some of the connections, above all those that are at work.
pub(super) async fn terminate(trial: &mut Trial) {
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
pub(super) fn cut(trial: &mut Trial, at: usize) {
    trial.did("cuts");
    let answers = trial.random.u32(1..=4);
    trial.slots[at].link.cut(answers);
    if trial.random.f64() < 0.5 {
        trial.client_link.cut(answers);
    }
}

/// Lets the database stand still for longer than leases live.
pub(super) async fn freeze(trial: &mut Trial, leases: u32) {
    trial.did("freezes");
    let from = trial.clock.now();
    trial.server.freeze().await;
    trial.clock.sleep(LEASE.mul_f64(f64::from(leases) + 2.0 * trial.random.f64())).await;
    trial.server.thaw().await;
    trial.outages.push((from, trial.clock.now()));
}

/// Crashes the database, now and then with a replica, and lets it recover.
pub(super) async fn outage(trial: &mut Trial) {
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
