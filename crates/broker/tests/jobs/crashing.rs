//! A replica that dies in the second step of a run: another one ends the run, and nothing is done twice.
//!
//! What a reader would get wrong: the actions of the step whose result is lost are not in the report, unless its candidates are found again.

use std::time::Duration;

use broker::jobs::{EnvironmentSettings, LastRun, Settings};
use engine::State;
use serde_json::json;
use store::broker::{BeginBinding, NewBinding};
use uuid::Uuid;

use crate::world::{TRIAL, World, counts, order};

/// More than the twenty that a step acts on at most.
const CANDIDATES: u64 = 25;

fn settings() -> Settings {
    let (older_than, settled) = (Duration::from_millis(1), Duration::from_millis(1));
    let environments =
        EnvironmentSettings { allowed: true, older_than, ..EnvironmentSettings::default() };
    Settings { environments, settled, ..Settings::default() }
}

fn name(number: u64) -> String {
    format!("i-{number:02}")
}

/// Runs a job whose replica dies before the result of its second step is stored.
async fn run_through_a_crash(world: &mut World, job: &str) -> LastRun {
    world.restart_crashing_at_commit(2).await;
    world.jobs.run(job, false, "jo").await.unwrap();
    world.crashed().await;
    world.restart().await;
    let run = world.ended(job, false).await;
    assert_eq!(run.state, State::Succeeded, "{job}: {:?}", run.failure);
    run
}

/// A world on each database in which no replica works yet.
async fn worlds() -> [World; 2] {
    let worlds = World::both(settings).await;
    for world in &worlds {
        world.engine.kill();
    }
    worlds
}

#[tokio::test(flavor = "multi_thread")]
async fn each_instance_expires_once() {
    for mut world in worlds().await {
        for number in 0..CANDIDATES {
            order(&world.days_ago(20), &name(number), TRIAL, &format!("sa-{number}")).await;
        }

        let run = run_through_a_crash(&mut world, "expiry").await;

        // Those that had expired when the replica died are no candidates any more.
        assert_eq!(counts(&run), [20, 20, 0, 0]);
        for number in 0..CANDIDATES {
            let row = world.store.find(&name(number)).await.unwrap().unwrap();
            assert!(row.expired_at.is_some(), "{}", row.id);
            assert_eq!(world.operations(&row.id, "deprovision").await, 1, "{}", row.id);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_removal_is_continued_once() {
    for mut world in worlds().await {
        for number in 0..CANDIDATES {
            world.left_over(&name(number)).await;
        }

        let run = run_through_a_crash(&mut world, "deprovision-retrigger").await;

        // Five were continued when the replica died, and run.
        assert_eq!(counts(&run), [25, 20, 5, 0]);
        for number in 0..CANDIDATES {
            assert_eq!(world.operations(&name(number), "deprovision").await, 2, "{number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_binding_is_removed() {
    for mut world in worlds().await {
        let runtime = Uuid::from_u128(7);
        world.made(1, "moved", Some(runtime)).await;
        for number in 0..CANDIDATES {
            let binding = &name(number);
            let lifetime = Duration::from_secs(600);
            let new =
                NewBinding { instance: "moved", binding, runtime, lifetime, predecessor: None };
            let hold = Duration::from_secs(120);
            let begun = world.store.begin_binding(&new, 100, hold).await.unwrap();
            let BeginBinding::Begun(attempt) = begun else { panic!("{begun:?}") };
            let until = world.clock.now() - Duration::from_secs(1);
            assert!(world.store.finish_binding(attempt, b"token: x", until).await.unwrap());
        }
        // With the runtime goes everything in it.
        world.moved("moved", Uuid::from_u128(8)).await;

        let run = run_through_a_crash(&mut world, "binding-cleanup").await;

        assert_eq!(counts(&run), [20, 20, 0, 0], "the others were gone");
        for number in 0..CANDIDATES {
            let found = world.store.find_binding("moved", &name(number)).await.unwrap();
            assert!(found.is_none(), "{number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_shoot_of_nobody_is_deleted() {
    for mut world in worlds().await {
        for number in 0..CANDIDATES {
            world.shoot(&name(number), json!({})).await;
        }

        let run = run_through_a_crash(&mut world, "environment-cleanup").await;

        // A step deletes ten. Those of the step whose result was lost are gone, or on their way.
        assert_eq!(counts(&run), [15, 15, 0, 0], "{:?}", run.report);
        for number in 0..CANDIDATES {
            assert!(!world.has_shoot(&name(number)).await, "{number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_difference_is_listed_once() {
    for mut world in worlds().await {
        for number in 0..CANDIDATES {
            world.made(2, &name(number), Some(Uuid::from_u128(number.into()))).await;
        }

        let run = run_through_a_crash(&mut world, "drift").await;

        assert_eq!(counts(&run), [25, 25, 0, 0]);
        let mut found: Vec<&str> = run.report.details.iter().map(|it| it.item.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, (0..CANDIDATES).map(name).collect::<Vec<_>>());
    }
}
