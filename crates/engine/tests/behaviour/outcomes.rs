//! The table of outcomes: what follows from each way a run can end.

use engine::{PlannedStep, State, storage::Outcome, testing::Faults};

use crate::script::{Act, Bench, MINUTE, SECOND, settings};

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
async fn data_saved_in_the_middle_of_a_run_survives_the_run() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let id = bench.order("Use", &[Act::Save(7)]).await;

    bench.succeeds(id).await;

    let data: serde_json::Value = serde_json::from_slice(&bench.read(id).await.data).unwrap();
    assert_eq!(data["saved"], 7, "the run hung after its save and was ended at its deadline");
}

#[tokio::test(start_paused = true)]
async fn changes_to_other_rows_land_with_the_result_and_a_refused_one_is_tried_again() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let good = bench.order("Use", &[Act::Change("instance")]).await;
    let refused = bench.order("Use", &[Act::Change("refuse"), Act::Change("instance")]).await;

    bench.succeeds(good).await;
    bench.succeeds(refused).await;

    let changed: Vec<_> = bench.store.applied_changes().into_iter().map(|(id, ..)| id).collect();
    assert_eq!(changed, [good, refused]);
    assert!(bench.runs(refused).contains(&("Use".into(), Outcome::Transient)));
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

/// Runs an operation whose commits misbehave from the middle of its second stage on.
async fn goes_on_at_once(faults: Faults) {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let id = bench.order("Warm", &[Act::Work(2 * SECOND)]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Warm")).await;

    bench.store.misbehave(faults);
    let before = bench.clock.now();
    bench.succeeds(id).await;

    let took = bench.clock.now().duration_since(before).as_secs();
    assert!(took < 4, "it took {took} s: others had to find it");
    assert_eq!(bench.env.ran(id), ["Start", "Warm", "Use", "End"], "its memory was kept");
}

#[tokio::test(start_paused = true)]
async fn p17_a_commit_that_landed_without_an_answer_goes_on_at_once_with_its_memory() {
    goes_on_at_once(Faults { answer_lost: 1.0, ..Faults::default() }).await;
}

#[tokio::test(start_paused = true)]
async fn p17_a_commit_that_lands_after_it_was_looked_for_goes_on_at_once_with_its_memory() {
    goes_on_at_once(Faults { late: 1, ..Faults::default() }).await;
}

#[tokio::test(start_paused = true)]
async fn notes_of_a_run_are_in_its_journal_entry_unless_the_run_gives_a_reason() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let acts = [Act::NoteAndWait("not shown", "not yet"), Act::Note("Gardener warns")];
    let id = bench.order("Use", &acts).await;

    bench.succeeds(id).await;

    let history = bench.store.history(id);
    let runs = history.iter().filter(|entry| entry.step.as_deref() == Some("Use"));
    let reasons: Vec<_> = runs.map(|entry| entry.reason.as_deref()).collect();
    assert_eq!(reasons, [Some("not yet"), Some("Gardener warns; and more")]);
    let others = history.iter().filter(|entry| entry.step.as_deref() == Some("End"));
    assert_eq!(others.map(|entry| entry.reason.as_deref()).collect::<Vec<_>>(), [None]);
}
