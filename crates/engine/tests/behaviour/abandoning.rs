//! Operations that an operator abandons: they end at once, and their steps are gone before anything else of the instance begins.

mod claims;

use engine::State;

use crate::script::{Act, Bench, MINUTE, settings};

#[tokio::test(start_paused = true)]
async fn an_abandoned_operation_ends_at_once_while_its_step_hangs_and_the_next_one_runs() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let (hangs, next) = (bench.id(), bench.id());
    bench.env.script(hangs, "Use", &[Act::Hang]);
    bench.order_for(hangs, "one instance", "tenant").await;
    bench.order_for(next, "one instance", "tenant").await;
    bench.until(hangs, |row| row.step.as_deref() == Some("Use") && row.held).await;

    assert!(engine.abandon(hangs, "it hangs").await.unwrap());

    let ended = bench.read(hangs).await;
    assert_eq!((ended.state, ended.held, ended.owner), (State::Failed, false, None));
    assert_eq!(ended.failure.unwrap().reason, "abandoned");
    bench.succeeds(next).await;
    // Long after the hanging run has reached its deadline, nothing was written.
    bench.clock.sleep(60 * MINUTE).await;
    let later = bench.read(hangs).await;
    assert_eq!((later.state, later.note.as_deref()), (State::Failed, Some("it hangs")));
    assert_eq!(later.updated_at, ended.updated_at, "its owner writes nothing more");
    assert!(!engine.abandon(hangs, "again").await.unwrap(), "final is final");
}

#[tokio::test(start_paused = true)]
async fn p29_the_step_of_an_abandoned_operation_is_dropped_before_the_next_one_begins() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let (goes_on, next) = (bench.id(), bench.id());
    bench.env.script(goes_on, "Use", &[Act::Tick(MINUTE / 120)]);
    bench.order_for(goes_on, "one instance", "tenant").await;
    bench.order_for(next, "one instance", "tenant").await;
    bench.until(goes_on, |row| row.step.as_deref() == Some("Use") && row.held).await;
    bench.clock.sleep(MINUTE / 6).await;
    let now = bench.clock.now();

    assert!(engine.abandon(goes_on, "it does not end").await.unwrap());

    let lease = settings().lease;
    let due = bench.read(next).await.due_at.unwrap();
    assert!(due > now + lease / 2 && due <= now + lease, "when the lease of the owner ends");
    let explanation = engine.explain(next).await.unwrap().unwrap();
    assert!(explanation.reason.contains("given time to stop"), "{explanation:?}");
    bench.succeeds(next).await;
    bench.clock.sleep(MINUTE).await;
    let last = *bench.env.times(goes_on, "tick").last().unwrap();
    let first = bench.env.times(next, "Start")[0];
    assert!(last > now - MINUTE / 60, "it went on until it was abandoned");
    assert!(last <= now + lease / 4 && last < first, "{last} is not before {first}");
    assert!(first < due + lease / 10, "{first} is long after {due}");
}

#[tokio::test(start_paused = true)]
async fn p29_a_replica_whose_looks_have_no_answer_stops_before_the_next_operation_begins() {
    let bench = Bench::new();
    let blind = bench.store.line(bench.clock.clone());
    let engine = bench.start_on(&blind, settings());
    let (goes_on, next) = (bench.id(), bench.id());
    bench.env.script(goes_on, "Use", &[Act::Tick(MINUTE / 600)]);
    bench.order_for(goes_on, "one instance", "tenant").await;
    bench.order_for(next, "one instance", "tenant").await;
    bench.until(goes_on, |row| row.step.as_deref() == Some("Use") && row.held).await;
    bench.clock.sleep(MINUTE / 6).await;
    blind.blind(true);
    let _other = bench.start(settings());

    assert!(engine.abandon(goes_on, "it does not end").await.unwrap());

    bench.succeeds(next).await;
    bench.clock.sleep(MINUTE).await;
    let last = *bench.env.times(goes_on, "tick").last().unwrap();
    let first = bench.env.times(next, "Start")[0];
    assert!(last < first, "{last} is not before {first}");
}

#[tokio::test(start_paused = true)]
async fn looks_without_an_answer_for_a_moment_stop_nothing() {
    let bench = Bench::new();
    let blind = bench.store.line(bench.clock.clone());
    let _engine = bench.start_on(&blind, settings());
    let id = bench.order("Use", &[Act::Work(MINUTE / 3)]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Use") && row.held).await;

    for _ in 0..2 {
        blind.blind(true);
        bench.clock.sleep(settings().lease / 2).await;
        blind.blind(false);
        bench.clock.sleep(settings().lease / 2).await;
    }
    bench.succeeds(id).await;

    let used = bench.env.ran(id).iter().filter(|step| **step == "Use").count();
    assert_eq!((used, bench.read(id).await.epoch), (1, 1));
}
