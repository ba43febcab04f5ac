//! The engine as real processes on a real database, killed, paused and cut off from a seed.
//!
//! `KCP_TORTURE_SECONDS=1800 KCP_TORTURE_SEED=17 cargo test -p kcp-acceptance --test torture` runs
//! longer, and with other faults. What the seed fixes is what is done, not what comes of it: these
//! are processes, and no two runs of them are alike.

#![expect(clippy::unwrap_used, reason = "a test stops where something is wrong")]

mod calls;
mod checker;
mod client;
mod hunt;
mod ledger;
mod link;
mod nemesis;
mod replicas;
mod resumption;
mod trial;

use std::time::Duration;

use engine::PlantedBug;
use tokio::sync::Mutex;

use crate::{
    checker::Verdict,
    nemesis::{EVERYTHING, FREEZES, LONG_FREEZES, SILENCE, Temper},
    trial::Trial,
};

/// One trial at a time: each of them has the machine for itself.
static TURN: Mutex<()> = Mutex::const_new(());

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Orders and faults at once, for a while; then everything ends, and no promise is broken.
async fn endure(temper: Temper, time: Duration) {
    let _turn = TURN.lock().await;
    let seed = number("KCP_TORTURE_SEED", 1);
    let (mut trial, mut client) = Trial::start(seed, PlantedBug::Nothing).await;

    tokio::join!(nemesis::rage(&mut trial, temper, time), client.keep_ordering(time));
    client.is_answered().await;
    let slowest_stop = trial.slowest_stop().await;
    let ended = trial.come_to_an_end().await;
    let open = trial.open_transactions().await;
    let history = trial.history(&client).await;

    let Verdict { violations, stale_calls, latest_limit, .. } = checker::check(&history);
    let figures = format!(
        "seed {seed}: {} operations, {} calls, {:?}, slowest stop {slowest_stop:?}, \
         {stale_calls} stale calls, the latest limit fired {latest_limit:#} late",
        history.rows.len(),
        calls::calls(&history.events).map_or(0, |calls| calls.len()),
        trial.deeds,
    );
    println!("{figures}");
    let ended = ended.unwrap_or_else(|left| panic!("{left}\n{}", trial.again()));
    println!("all are final {ended:?} after the last fault");
    assert_eq!(open, 0, "sessions stay inside of a transaction (P24); {}", trial.again());
    let (count, first) = (violations.len(), &violations[..violations.len().min(20)]);
    assert!(violations.is_empty(), "{count} violations, first {first:#?}\n{}", trial.again());
    trial.succeeded();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p01_to_p09_hold_while_replicas_and_the_database_die() {
    endure(EVERYTHING, Duration::from_secs(number("KCP_TORTURE_SECONDS", 60))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p24_a_database_that_freezes_leaves_nothing_behind() {
    endure(FREEZES, Duration::from_secs(15)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p24_a_database_that_freezes_for_many_leases_leaves_nothing_behind() {
    endure(LONG_FREEZES, Duration::from_secs(30)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p17_nothing_is_lost_with_the_answers_of_the_database() {
    endure(SILENCE, Duration::from_secs(15)).await;
}
