//! Waiting: signals, the journal's count of repeated waits, and why it is waiting.

use engine::{Storage as _, explain::Standstill};

use crate::script::{Act, Bench, MINUTE, SECOND, settings};

#[tokio::test(start_paused = true)]
async fn a_signal_wakes_a_waiting_step_early() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.order("Use", &[Act::Signal("shoot/a")]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Use") && !row.held).await;

    engine.signal("shoot/b").await.unwrap();
    bench.clock.sleep(MINUTE).await;
    assert_eq!(bench.env.times(id, "Use").len(), 1, "another signal does not wake it");
    let before = bench.clock.now();
    engine.signal("shoot/a").await.unwrap();

    bench.succeeds(id).await;
    assert!(bench.clock.now().duration_since(before).as_secs() < 2);
}

#[tokio::test(start_paused = true)]
async fn repeated_waits_for_the_same_reason_are_one_entry_with_a_count() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let waits = [Act::Wait("a"), Act::Wait("a"), Act::Wait("a"), Act::Wait("b")];
    let id = bench.order("Use", &waits).await;

    bench.succeeds(id).await;

    let waits: Vec<_> = bench
        .store
        .history(id)
        .into_iter()
        .filter(|entry| entry.step.as_deref() == Some("Use"))
        .map(|entry| (entry.reason, entry.times))
        .collect();
    assert_eq!(waits, [(Some("a".into()), 3), (Some("b".into()), 1), (None, 1)]);
}

#[tokio::test(start_paused = true)]
async fn waits_that_differ_in_their_progress_are_one_entry_that_tells_the_newest() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let waits = [
        Act::Wait("the cluster is being made: 10 %"),
        Act::Wait("the cluster is being made: 62 %"),
        Act::Wait("the cluster is being made: 90 %"),
        Act::Wait("the agent connects"),
    ];
    let id = bench.order("Use", &waits).await;

    bench.succeeds(id).await;

    let waits: Vec<_> = bench
        .store
        .history(id)
        .into_iter()
        .filter(|entry| entry.step.as_deref() == Some("Use"))
        .map(|entry| (entry.reason.unwrap_or_default(), entry.times))
        .collect();
    let newest = "the cluster is being made: 90 %".to_owned();
    assert_eq!(waits, [(newest, 3), ("the agent connects".into(), 1), (String::new(), 1)]);
}

#[tokio::test(start_paused = true)]
async fn why_it_waits_is_told_with_the_next_try_and_what_happens_at_the_limit() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let waits = bench.order("Use", &[Act::WaitFor(5 * MINUTE)]).await;
    let fails = bench.order("Use", &[Act::Fail, Act::Fail, Act::Fail, Act::Fail]).await;
    bench.until(waits, |row| row.waiting_since.is_some()).await;
    bench.until(fails, |row| row.failing_since.is_some() && !row.held).await;

    let why = engine.explain(waits).await.unwrap().unwrap();
    assert_eq!(why.kind, Standstill::Waiting);
    assert_eq!(why.reason, "a while");
    assert_eq!(why.place.as_deref(), Some("step 3 of 4"));
    assert!(why.next_try.unwrap() > bench.clock.now());
    assert_eq!(why.at_limit.as_deref(), Some("the operation fails"));

    let why = engine.explain(fails).await.unwrap().unwrap();
    assert_eq!(why.kind, Standstill::Failing);
    assert_eq!(why.failure.unwrap().reason, "http");
    assert!(why.limit_at.unwrap().duration_since(why.since.unwrap()).as_secs() == 1800);
}

#[tokio::test(start_paused = true)]
async fn p14_sleeping_operations_hold_no_worker() {
    let bench = Bench::new();
    let _engine = bench.start(engine::Settings { workers: 2, in_hand: 4, ..settings() });
    let mut sleeping = Vec::new();
    for _ in 0..100 {
        sleeping.push(bench.order("Warm", &[Act::WaitFor(10 * MINUTE)]).await);
    }
    for id in &sleeping {
        bench.until(*id, |row| row.waiting_since.is_some() && !row.held).await;
    }

    let before = bench.clock.now();
    let quick = bench.order("Use", &[]).await;
    bench.succeeds(quick).await;

    assert!(bench.clock.now().duration_since(before).as_secs() < 1);
    for id in sleeping {
        bench.succeeds(id).await;
    }
}

#[tokio::test(start_paused = true)]
async fn p18_what_is_due_starts_within_a_second_even_if_every_notification_is_lost() {
    let faults = engine::testing::Faults { wake_lost: 1.0, ..Default::default() };
    let bench = Bench::with(engine::PlantedBug::Nothing, faults);
    let _engine = bench.start(settings());
    bench.clock.sleep(10 * SECOND).await;

    let id = bench.order("Use", &[Act::WaitFor(7 * SECOND)]).await;
    let accepted = bench.read(id).await.created_at;
    bench.succeeds(id).await;

    let started = bench.env.times(id, "Start")[0];
    assert!(started.duration_since(accepted).as_millis() <= 1_000);
    let uses = bench.env.times(id, "Use");
    assert!(uses[1].duration_since(uses[0]).as_millis() <= 8_000);
}

#[tokio::test(start_paused = true)]
async fn p18_a_signal_given_while_the_step_runs_is_not_lost() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.id();
    // The step looks, works for a while, and only then says that it waits for the signal.
    bench.env.script(id, "Use", &[Act::SlowSignal("shoot/a", 2 * SECOND)]);
    bench.order_for(id, "instance", "tenant").await;
    bench.until(id, |row| row.step.as_deref() == Some("Use")).await;
    bench.clock.sleep(SECOND).await;

    engine.signal("shoot/a").await.unwrap();
    let before = bench.clock.now();
    bench.succeeds(id).await;

    assert!(bench.clock.now().duration_since(before).as_secs() < 5);
    assert!(bench.store.journal(id).await.unwrap().len() > 5);
}

#[tokio::test(start_paused = true)]
async fn p18_a_signal_that_comes_with_others_is_not_lost() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.order("Use", &[Act::SlowSignal("shoot/a", 2 * SECOND)]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Use")).await;
    bench.clock.sleep(SECOND).await;

    for signal in ["shoot/x", "shoot/a", "shoot/y"] {
        engine.signal(signal).await.unwrap();
    }
    let before = bench.clock.now();
    bench.succeeds(id).await;

    assert!(bench.clock.now().duration_since(before).as_secs() < 5);
}
