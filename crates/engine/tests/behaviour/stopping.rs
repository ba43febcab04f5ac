//! An orderly stop: finish or hand back within a given time; a start carries on.

use engine::Settings;

use crate::script::{Act, Bench, MINUTE, SECOND, settings};

#[tokio::test(start_paused = true)]
async fn a_stop_lets_running_steps_finish_and_hands_back_the_rest() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.order("Use", &[Act::Work(5 * SECOND)]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Use") && row.held).await;

    engine.stop(10 * SECOND).await;

    let row = bench.read(id).await;
    assert_eq!(row.step.as_deref(), Some("End"), "the step that ran is committed");
    assert!(!row.held, "and the operation is handed back");
    let _again = bench.start(settings());
    bench.succeeds(id).await;
    assert_eq!(bench.env.ran(id), ["Start", "Warm", "Use", "End"], "nothing ran twice");
}

#[tokio::test(start_paused = true)]
async fn a_step_that_takes_longer_than_the_drain_is_cut_off_and_runs_again_elsewhere() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.order("Use", &[Act::Work(20 * SECOND)]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Use") && row.held).await;

    let before = bench.clock.now();
    engine.stop(2 * SECOND).await;

    assert!(bench.clock.now().duration_since(before).as_secs() <= 3);
    assert!(!bench.read(id).await.held);
    let _again = bench.start(settings());
    bench.succeeds(id).await;
}

#[tokio::test(start_paused = true)]
async fn p10_after_an_orderly_stop_others_go_on_within_a_second() {
    let bench = Bench::new();
    let first = bench.start(settings());
    let id = bench.order("Use", &[Act::Hang]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Use") && row.held).await;
    let _second = bench.start(Settings { seed: Some(2), ..settings() });

    first.stop(SECOND).await;
    let stopped_at = bench.clock.now();
    bench.succeeds(id).await;

    assert!(bench.env.times(id, "Warm")[1].duration_since(stopped_at).as_secs() < 1);
}

#[tokio::test(start_paused = true)]
async fn p01_everything_stops_and_starts_again_and_still_everything_ends() {
    let bench = Bench::new();
    let mut ids = Vec::new();
    let mut engine = bench.start(settings());
    for number in 0..30_u32 {
        let acts = [Act::WaitFor(SECOND * (number % 7)), Act::Fail, Act::Wait("more")];
        ids.push(bench.order("Use", &acts).await);
        if number % 5 == 4 {
            if number % 2 == 0 {
                engine.stop(SECOND).await;
            } else {
                engine.kill();
            }
            engine = bench.start(settings());
        }
    }

    for id in ids {
        bench.succeeds(id).await;
    }
    bench.clock.sleep(MINUTE).await;
}
