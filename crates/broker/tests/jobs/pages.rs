//! More candidates than one page holds: each is worked on once, at the job's rate; and what a job has to leave alone.

use std::{num::NonZeroU32, time::Duration};

use broker::jobs::{EnvironmentSettings, JobSettings, Settings};
use clients::gardener::{Deletion, RUNTIME_ANNOTATION};
use jiff::SignedDuration;
use serde_json::json;
use simulators::garden::SCENARIO;
use store::broker::{BeginBinding, NewBinding};
use uuid::Uuid;

use crate::world::{TRIAL, World, counts, order};

/// Everything that is there counts as old.
fn at_once() -> Settings {
    let moment = Duration::from_millis(1);
    let environments =
        EnvironmentSettings { allowed: true, older_than: moment, ..EnvironmentSettings::default() };
    Settings { environments, settled: moment, ..Settings::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_expire_page_by_page_at_the_rate_of_the_job() {
    const INSTANCES: u64 = 25;
    let slow = JobSettings { rate: NonZeroU32::MIN, ..JobSettings::default() };
    let settings = || Settings { jobs: [("expiry", slow)].into(), ..Settings::default() };
    for world in World::both(settings).await {
        let past = world.days_ago(20);
        for number in 0..INSTANCES {
            order(&past, &format!("i-{number:02}"), TRIAL, &format!("sa-{number}")).await;
        }

        let run = world.run("expiry", false).await;

        assert_eq!(counts(&run), [INSTANCES, INSTANCES, 0, 0]);
        for number in 0..INSTANCES {
            let removals = world.operations(&format!("i-{number:02}"), "deprovision").await;
            assert_eq!(removals, 1, "instance {number}");
        }
        // Twenty a page, one a minute, and a thousand times faster.
        let took = run.ended_at.unwrap().duration_since(run.started_at);
        assert!(took >= SignedDuration::from_millis(1_190), "{took}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn removals_that_left_something_are_continued_page_by_page() {
    const INSTANCES: u64 = 22;
    let world = World::new(Settings::default()).await;
    for number in 0..INSTANCES {
        world.left_over(&format!("i-{number:02}")).await;
    }

    assert_eq!(world.counts("deprovision-retrigger", false).await, [INSTANCES, INSTANCES, 0, 0]);

    for number in 0..INSTANCES {
        assert_eq!(world.operations(&format!("i-{number:02}"), "deprovision").await, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bindings_are_removed_page_by_page() {
    const BINDINGS: u64 = 23;
    for world in World::both(Settings::default).await {
        let runtime = Uuid::from_u128(7);
        world.made(1, "moved", Some(runtime)).await;
        for number in 0..BINDINGS {
            let new = NewBinding {
                instance: "moved",
                binding: &format!("b-{number}"),
                runtime,
                lifetime: Duration::from_secs(600),
                predecessor: None,
            };
            let hold = Duration::from_secs(120);
            let begun = world.store.begin_binding(&new, 100, hold).await.unwrap();
            let BeginBinding::Begun(attempt) = begun else { panic!("{begun:?}") };
            let until = world.clock.now() - Duration::from_secs(1);
            assert!(world.store.finish_binding(attempt, b"token: x", until).await.unwrap());
        }
        world.moved("moved", Uuid::from_u128(8)).await;

        assert_eq!(world.counts("binding-cleanup", true).await, [BINDINGS, BINDINGS, 0, 0]);
        assert_eq!(world.counts("binding-cleanup", false).await, [BINDINGS, BINDINGS, 0, 0]);
        assert_eq!(world.counts("binding-cleanup", false).await, [0, 0, 0, 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn shoots_are_deleted_page_by_page() {
    const SHOOTS: u64 = 23;
    let world = World::new(at_once()).await;
    for number in 0..SHOOTS {
        world.shoot(&format!("s-{number:02}"), json!({})).await;
    }

    assert_eq!(world.counts("environment-cleanup", false).await, [SHOOTS, SHOOTS, 0, 0]);

    for number in 0..SHOOTS {
        assert!(!world.has_shoot(&format!("s-{number:02}")).await, "Shoot {number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_that_is_being_deleted_is_no_candidate_and_a_difference_only_for_its_instance() {
    let world = World::new(at_once()).await;
    let row = world.made(2, "going", Some(Uuid::from_u128(7))).await;
    for (name, runtime) in [(row.shoot_name.as_str(), Some(Uuid::from_u128(7))), ("nobodys", None)]
    {
        let mut annotations = json!({ SCENARIO: "stuck-delete" });
        if let Some(runtime) = runtime {
            annotations[RUNTIME_ANNOTATION] = runtime.to_string().into();
        }
        world.growing_shoot(name, annotations).await;
        let deleted = world.env.gardener.delete_exactly(name, None).await.unwrap();
        assert!(matches!(deleted, Deletion::Going), "{deleted:?}");
    }

    assert_eq!(world.counts("environment-cleanup", false).await, [0, 0, 0, 0]);
    let run = world.run("drift", false).await;

    let found: Vec<(&str, String)> =
        run.report.details.iter().map(|it| (it.item.as_str(), it.text.clone())).collect();
    assert_eq!(found, [("going", format!("Shoot {} is being deleted", row.shoot_name))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_is_being_changed_is_no_difference() {
    let world = World::new(at_once()).await;
    world.made(2, "changing", Some(Uuid::from_u128(7))).await;
    world.made(2, "settled", Some(Uuid::from_u128(8))).await;
    world.updating("changing", json!({ "autoScalerMax": 9 })).await;

    let run = world.run("drift", false).await;

    let found: Vec<&str> = run.report.details.iter().map(|it| it.item.as_str()).collect();
    assert_eq!(found, ["settled"]);
}
