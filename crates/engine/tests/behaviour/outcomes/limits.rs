//! Runs that fail or hang: when they are tried again, and when their limit ends the operation.

use engine::{PlannedStep, State, storage::Outcome};

use crate::script::{Act, Bench, MINUTE, SECOND, settings};

#[tokio::test(start_paused = true)]
async fn a_failing_step_is_tried_again_alone_and_after_ten_minutes_with_its_stage() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let fails: Vec<_> = std::iter::repeat_n(Act::Fail, 19).collect();
    let id = bench.order("Use", &fails).await;

    bench.succeeds(id).await;

    let warm = bench.env.times(id, "Warm");
    assert_eq!(warm.len(), 2, "the stage started over once: {:?}", bench.env.ran(id));
    let first_failure = bench.env.times(id, "Use")[0];
    assert!(warm[1].duration_since(first_failure).as_secs() >= 600);
}

#[tokio::test(start_paused = true)]
async fn p15_retry_after_is_obeyed() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let id = bench.order("Use", &[Act::Busy(7 * MINUTE)]).await;

    bench.succeeds(id).await;

    let times = bench.env.times(id, "Use");
    assert!(times[1].duration_since(times[0]).as_secs() >= 420);
}

#[tokio::test(start_paused = true)]
async fn p13_a_step_that_never_returns_is_ended_at_its_deadline_and_tried_again() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let id = bench.order("Use", &[Act::Hang]).await;

    bench.succeeds(id).await;

    let times = bench.env.times(id, "Use");
    assert_eq!(times.len(), 2);
    assert!(times[1].duration_since(times[0]).as_secs() >= 30);
    assert!(bench.runs(id).contains(&("Use".into(), Outcome::Transient)));
}

#[tokio::test(start_paused = true)]
async fn p11_limits_are_stored_and_restarts_neither_reset_nor_shorten_them() {
    let bench = Bench::new();
    let waits: Vec<_> = std::iter::repeat_n(Act::Wait("it never comes"), 1_000).collect();
    let limited = || {
        engine::Plan::within(24 * 60 * MINUTE)
            .stage("only")
            .step(PlannedStep::new(crate::script::step::Use).waiting_for(MINUTE))
    };
    let name = engine::Settings { replica: Some("one".into()), ..settings() };
    let mut engine = bench.start_plan(name.clone(), limited());
    let id = bench.order("Use", &waits).await;

    for _ in 0..10 {
        bench.clock.sleep(5 * SECOND).await;
        engine.kill();
        engine = bench.start_plan(name.clone(), limited());
    }
    let row = bench.end(id).await;

    assert_eq!(row.state, State::Failed);
    let began = bench.env.times(id, "Use")[0];
    let took = row.ended_at.unwrap().duration_since(began);
    assert!((60..65).contains(&took.as_secs()), "a limit of 60 s fired after {took}");
}
