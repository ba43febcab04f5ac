//! Instances of subaccounts that were deleted in the platform are removed.

use broker::jobs::Settings;
use clients::cis::Edition;
use engine::State;
use serde_json::json;

use crate::world::{AWS, World, counts, order};

/// Subaccounts that were deleted.
fn deleted(world: &World, subaccounts: &[&str]) {
    for id in subaccounts {
        world.tell("cis", "create-subaccount", &json!({ "id": id }));
        world.tell("cis", "delete-subaccount", &json!({ "id": id }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_of_deleted_subaccounts_are_removed_over_every_interface() {
    for edition in [Edition::Public, Edition::Central, Edition::CentralCursor] {
        let world = World::new(Settings { edition, ..Settings::default() }).await;
        for (instance, subaccount) in [("a", "sa-1"), ("b", "sa-5"), ("c", "sa-9")] {
            order(&world.env.broker, instance, AWS, subaccount).await;
        }
        // Three pages.
        deleted(&world, &["sa-1", "sa-2", "sa-3", "sa-4", "sa-5"]);

        assert_eq!(world.counts("subaccount-cleanup", true).await, [2, 2, 0, 0], "{edition:?}");
        assert_eq!(world.operations("a", "deprovision").await, 0);
        assert_eq!(world.counts("subaccount-cleanup", false).await, [2, 2, 0, 0], "{edition:?}");
        for (instance, removals) in [("a", 1), ("b", 1), ("c", 0)] {
            assert_eq!(world.operations(instance, "deprovision").await, removals, "{instance}");
        }
        world.counts("subaccount-cleanup", false).await;
        assert_eq!(world.operations("a", "deprovision").await, 1, "it is removed once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_deleted_subaccounts_it_ends_normally() {
    let world = World::new(Settings::default()).await;

    assert_eq!(world.counts("subaccount-cleanup", false).await, [0, 0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_down_for_a_while_is_asked_again() {
    let world = World::new(Settings::default()).await;
    order(&world.env.broker, "a", AWS, "sa-1").await;
    deleted(&world, &["sa-1"]);
    world.down("cis", 2);

    let run = world.run("subaccount-cleanup", false).await;

    assert_eq!((run.state, counts(&run)), (State::Succeeded, [1, 1, 0, 0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_ends_within_a_page_and_a_crash_there_repeats_only_its_last_actions() {
    const INSTANCES: u64 = 65;
    for mut world in World::both(Settings::default).await {
        world.engine.kill();
        for number in 0..INSTANCES {
            let subaccount = if number < 50 { "sa-1" } else { "sa-2" };
            order(&world.env.broker, &format!("i-{number:02}"), AWS, subaccount).await;
        }
        deleted(&world, &["sa-1", "sa-2"]);

        // The third step has acted twenty times, and its result is lost.
        world.restart_crashing_at_commit(3).await;
        world.jobs.run("subaccount-cleanup", false, "jo").await.unwrap();
        world.crashed().await;
        let report = world.jobs.find("subaccount-cleanup").await.unwrap().last_run.unwrap().report;
        assert_eq!((report.candidates, report.done), (40, 40), "two steps of twenty are stored");
        world.restart().await;
        let run = world.ended("subaccount-cleanup", false).await;

        assert_eq!(counts(&run), [INSTANCES, INSTANCES, 0, 0]);
        for number in 0..INSTANCES {
            let removals = world.operations(&format!("i-{number:02}"), "deprovision").await;
            assert_eq!(removals, 1, "instance {number}");
        }
    }
}
