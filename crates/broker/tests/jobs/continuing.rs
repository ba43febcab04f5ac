//! Suspensions that left something, and removals that failed, are continued too: their instances are not marked as removed.

use broker::jobs::Settings;
use engine::Storage as _;
use serde_json::Value;

use crate::world::{World, counts};

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_that_left_something_is_continued_once_and_a_clean_one_is_left_alone() {
    for world in World::both(Settings::default).await {
        world.suspended("left", &["work/Check_Runtime_Removal"]).await;
        world.suspended("clean", &[]).await;

        assert_eq!(world.counts("deprovision-retrigger", true).await, [1, 1, 0, 0]);
        assert_eq!(world.operations("left", "deprovision").await, 1);
        let run = world.run("deprovision-retrigger", false).await;

        assert_eq!(counts(&run), [1, 1, 0, 0], "{:?}", run.report);
        assert_eq!(run.report.details[0].item, "left");
        assert_eq!(world.operations("left", "deprovision").await, 2);
        assert_eq!(world.operations("clean", "deprovision").await, 1);
        assert_eq!(world.counts("deprovision-retrigger", false).await, [0, 0, 0, 0], "it runs");
        let newest = world.store.last_operation("left", None).await.unwrap().unwrap();
        let continued = world.env.broker.parts().operations.read(newest).await.unwrap().unwrap();
        let input: Value = serde_json::from_slice(&continued.input).unwrap();
        assert_eq!(input["temporary"], true, "it is still a suspension");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn removals_that_failed_are_continued_and_other_failures_are_not() {
    for world in World::both(Settings::default).await {
        world.not_removed("stuck").await;
        world.not_made("not-made").await;

        assert_eq!(world.counts("deprovision-retrigger", false).await, [1, 1, 0, 0]);

        assert_eq!(world.operations("stuck", "deprovision").await, 2);
        assert_eq!(world.operations("not-made", "deprovision").await, 0);
    }
}
