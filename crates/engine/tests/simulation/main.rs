//! The engine on simulated clock, store, network and randomness, in one thread, from a seed.
//!
//! A failing seed replays exactly: `KCP_SEED=17 cargo test -p kcp-engine --test simulation`.
//! `KCP_SEEDS=100000` runs more of them.

#![allow(clippy::unwrap_used, reason = "a test stops where something is wrong")]

mod checker;
mod nemesis;
mod outside;
mod plans;

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use engine::PlantedBug;

use crate::{checker::Violation, nemesis::SimulationResult};

/// Runs one seed in a world of its own.
fn run(seed: u64, planted: PlantedBug) -> SimulationResult {
    run_with(seed, planted, false)
}

/// The same, with operators who step in or without.
fn run_with(seed: u64, planted: PlantedBug, operators: bool) -> SimulationResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O can be built");
    // A panic inside of the simulated process is part of the simulation.
    runtime.block_on(nemesis::run(seed, planted, operators))
}

/// Runs seeds on all cores until one shows a violation; returns the first found.
fn search(seeds: std::ops::Range<u64>, planted: PlantedBug) -> Option<(u64, Vec<Violation>)> {
    search_with(seeds, |seed| run(seed, planted))
}

fn search_with(
    seeds: std::ops::Range<u64>,
    run: impl Fn(u64) -> SimulationResult + Sync,
) -> Option<(u64, Vec<Violation>)> {
    let next = AtomicU64::new(seeds.start);
    let found = Mutex::new(None);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end || found.lock().unwrap().is_some() {
                        return;
                    }
                    let ran = run(seed);
                    if !ran.violations.is_empty() {
                        *found.lock().unwrap() = Some((seed, ran.violations));
                    }
                }
            });
        }
    });
    found.into_inner().unwrap()
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn every_promise_holds_for_every_seed() {
    if let Ok(seed) = std::env::var("KCP_SEED") {
        let ran = run(seed.parse().expect("KCP_SEED is a number"), PlantedBug::Nothing);
        assert!(ran.violations.is_empty(), "{:#?}\n{}", ran.violations, ran.story);
        return;
    }
    let first = number("KCP_FIRST_SEED", 0);
    let found = search(first..first + number("KCP_SEEDS", 2_000), PlantedBug::Nothing);

    assert!(found.is_none(), "KCP_SEED={found:#?}");
}

#[test]
fn every_promise_holds_while_operators_skip_steps_and_abandon_operations() {
    let run = |seed| run_with(seed, PlantedBug::Nothing, true);

    let found = search_with(0..number("KCP_SEEDS", 2_000) / 4, run);

    assert!(found.is_none(), "with operators, seed {found:#?}");
}

/// The planted bug must be found with operators who step in.
fn finds_with_operators(planted: PlantedBug) {
    let run = |seed| run_with(seed, planted, true);
    let (seed, violations) = search_with(0..3_000, run).expect("the planted bug is found");
    assert!(
        violations.iter().any(|violation| [4, 29].contains(&violation.promise)),
        "seed {seed} found something else: {violations:#?}"
    );
}

#[test]
fn p29_is_red_when_nobody_looks_for_what_was_abandoned() {
    finds_with_operators(PlantedBug::AbandonedGoOn);
}

#[test]
fn p29_is_red_when_the_lease_is_renewed_without_an_answer_to_the_look() {
    finds_with_operators(PlantedBug::UnansweredLooksCount);
}

#[test]
fn a_seed_replays_exactly() {
    let (one, two) = (run(4711, PlantedBug::Nothing), run(4711, PlantedBug::Nothing));

    assert_eq!(one.story, two.story);
    assert!(one.story.lines().count() > 50, "the story is worth comparing");
}

/// The planted bug must be found, and found as a breach of one of these promises.
fn finds(planted: PlantedBug, promises: &[u8]) {
    let (seed, violations) = search(0..3_000, planted).expect("the planted bug is found");
    assert!(
        violations.iter().any(|violation| promises.contains(&violation.promise)),
        "seed {seed} found something else: {violations:#?}"
    );
}

macro_rules! planted {
    ($($test:ident: $bug:ident breaks $($promise:literal)|+;)*) => {$(
        #[test]
        fn $test() {
            finds(PlantedBug::$bug, &[$($promise),+]);
        }
    )*};
}

planted! {
    p01_is_red_when_pending_operations_are_forgotten: PendingForgotten breaks 1;
    p01_is_red_when_strays_are_kept: StraysKept breaks 1;
    p11_is_red_when_an_unknown_commit_counts_as_failed: UnknownIsFailed breaks 1 | 8 | 11 | 17;
    p04_is_red_when_several_operations_of_an_instance_may_run: ManyRunning breaks 4;
    p05_p06_are_red_without_the_fence: NoFence breaks 5 | 6 | 7 | 9;
    p06_is_red_when_the_lease_is_released_before_the_commit: LeaseReleasedEarly breaks 5 | 6;
    p07_is_red_when_a_stage_is_closed_before_its_last_step: StageClosedEarly breaks 7 | 8;
    p08_is_red_with_a_new_key_per_run: KeyPerRun breaks 8;
    p09_is_red_when_an_unknown_commit_counts_as_done: UnknownIsDone breaks 9 | 1;
    p11_is_red_when_limits_live_in_memory: LimitsInMemory breaks 11;
    p12_is_red_when_leases_are_judged_by_the_local_clock: LocalClock breaks 1 | 5 | 6;
    p13_is_red_when_a_panic_takes_the_worker_with_it: PanicEscapes breaks 1 | 13;
    p15_is_red_without_back_off: NoBackOff breaks 15;
    p18_is_red_when_only_notifications_wake: NoScan breaks 1 | 18;
    p20_is_red_when_a_final_state_is_overwritten: FinalOverwritten breaks 20;
    p21_is_red_when_takeovers_are_not_recorded: TakeoverUnrecorded breaks 21;
    p22_is_red_when_anything_is_claimed: ClaimsAnything breaks 22;
    p24_is_red_when_a_transaction_is_left_open: TransactionLeftOpen breaks 1 | 5 | 6 | 8;
}
