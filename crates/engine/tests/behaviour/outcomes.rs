//! The table of outcomes: runs that wait, start over or end the operation.

mod commits;
mod limits;

use engine::State;

use crate::script::{Act, Bench, settings};

#[tokio::test(start_paused = true)]
async fn a_plan_without_trouble_runs_each_step_once_in_order() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.order("Start", &[]).await;

    bench.succeeds(id).await;

    assert_eq!(bench.env.ran(id), ["Start", "Warm", "Use", "End"]);
    assert_eq!(bench.read(id).await.closed, ["start", "middle", "end"]);
    drop(engine);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_step_runs_again_with_its_memory_and_earlier_steps_do_not() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let id = bench.order("Use", &[Act::Wait("not yet"), Act::Wait("not yet")]).await;

    bench.succeeds(id).await;

    assert_eq!(bench.env.ran(id), ["Start", "Warm", "Use", "Use", "Use", "End"]);
}

#[tokio::test(start_paused = true)]
async fn p14_evicted_memory_starts_the_stage_over_at_its_first_step() {
    let bench = Bench::new();
    let _engine = bench.start(engine::Settings { memories: 0, ..settings() });
    let id = bench.order("Use", &[Act::Wait("not yet")]).await;

    bench.succeeds(id).await;

    assert_eq!(bench.env.ran(id), ["Start", "Warm", "Use", "Warm", "Use", "End"]);
}

#[tokio::test(start_paused = true)]
async fn again_starts_the_stage_over_with_fresh_memory() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let id = bench.order("Use", &[Act::Again]).await;

    bench.succeeds(id).await;

    assert_eq!(bench.env.ran(id), ["Start", "Warm", "Use", "Warm", "Use", "End"]);
}

#[tokio::test(start_paused = true)]
async fn finish_ends_the_operation_well_and_fatal_and_panic_end_it_badly() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let finished = bench.order("Warm", &[Act::Finish]).await;
    let failed = bench.order("Warm", &[Act::Fatal]).await;
    let panicked = bench.order("Warm", &[Act::Panic]).await;

    assert_eq!(bench.end(finished).await.state, State::Succeeded);
    assert_eq!(bench.end(failed).await.state, State::Failed);
    let panicked = bench.end(panicked).await;
    assert_eq!(panicked.state, State::Failed);
    assert!(panicked.failure.unwrap().message.contains("poison"));
    assert_eq!(bench.env.ran(finished), ["Start", "Warm"]);
    assert_eq!(bench.env.ran(failed), ["Start", "Warm"]);
}
