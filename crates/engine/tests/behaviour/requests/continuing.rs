//! Operations that go on without a step: skipped steps, and retries.

use engine::{
    State,
    storage::{Acceptance, Outcome, Skip, Verdict},
};

use crate::script::{Act, Bench, MINUTE, settings};

#[tokio::test(start_paused = true)]
async fn p20_a_retry_is_a_new_operation_that_runs_only_what_was_not_completed() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let failed = bench.order("Use", &[Act::Fatal]).await;
    assert_eq!(bench.end(failed).await.state, State::Failed);
    let before = bench.read(failed).await;

    let (retry, accepted) = engine.retry(failed, &|_| Verdict::Queue).await.unwrap();

    assert_eq!(accepted, Acceptance::Started);
    bench.succeeds(retry).await;
    assert_eq!(bench.env.ran(retry), ["Warm", "Use", "End"], "the first stage was finished");
    assert_eq!(bench.read(retry).await.root, failed, "idempotency keys come from the root");
    assert_eq!(bench.read(failed).await, before, "the failed operation is as it was");
}

#[tokio::test(start_paused = true)]
async fn a_step_that_is_skipped_runs_no_more_and_the_plan_goes_on() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.order("Use", &[Act::WaitFor(60 * MINUTE)]).await;
    let waits = bench.until(id, |row| row.waiting_since.is_some() && !row.held).await;
    let skip =
        Skip { stage: waits.stage.unwrap(), step: "Use".into(), reason: "it never comes".into() };

    assert!(engine.skip(id, &skip).await.unwrap());
    let before = bench.clock.now();
    bench.succeeds(id).await;

    assert!(bench.clock.now().duration_since(before).as_secs() < 2, "it was woken");
    let row = bench.read(id).await;
    assert_eq!(row.incomplete, [format!("{}/Use", skip.stage)]);
    assert_eq!(bench.env.ran(id), ["Start", "Warm", "Use", "End"], "it ran once, to wait");
    assert!(bench.runs(id).contains(&("Use".into(), Outcome::GivenUp)));
    assert!(!engine.skip(id, &skip).await.unwrap(), "final is final");
}

#[tokio::test(start_paused = true)]
async fn a_step_that_was_skipped_stays_skipped_when_another_replica_takes_over() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.order("Use", &[Act::WaitFor(60 * MINUTE)]).await;
    bench.env.script(id, "End", &[Act::WaitFor(60 * MINUTE)]);
    let waits = bench.until(id, |row| row.step.as_deref() == Some("Use") && !row.held).await;
    let stage = waits.stage.unwrap();
    let skip = Skip { stage, step: "Use".into(), reason: "it never comes".into() };
    assert!(engine.skip(id, &skip).await.unwrap());
    bench.until(id, |row| !row.incomplete.is_empty() && !row.held).await;

    engine.kill();
    let _second = bench.start(settings());
    bench.succeeds(id).await;

    let used = bench.env.ran(id).iter().filter(|step| **step == "Use").count();
    assert_eq!(used, 1, "not even after its stage started over");
    assert_eq!(bench.read(id).await.incomplete.len(), 1);
}
