//! What a run leaves: saved data, changes to other rows, notes, and commits without an answer.

use engine::{storage::Outcome, testing::Faults};

use crate::script::{Act, Bench, SECOND, settings};

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
