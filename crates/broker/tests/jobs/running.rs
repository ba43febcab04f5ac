//! How runs come about: once when they are due, however many replicas look, and once after a downtime.

use std::{collections::BTreeSet, num::NonZeroU32, time::Duration};

use broker::jobs::{Error, JobSettings, Jobs, Settings};

use crate::world::{AWS, World, order};

/// Every job may run.
fn all_enabled() -> Settings {
    let mut settings = Settings::default();
    settings.environments.allowed = true;
    let on = JobSettings { enabled: Some(true), ..JobSettings::default() };
    settings.jobs = broker::jobs::names().map(|name| (name, on)).collect();
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_due_is_started_once_however_many_replicas_look() {
    for world in World::both(all_enabled).await {
        // Nothing works on it, so that it does not end while the others look.
        world.engine.kill();
        let replicas: Vec<Jobs> = (0..5).map(|_| Jobs::new(world.env.clone())).collect();
        for job in broker::jobs::names() {
            let instance = format!("job/{job}");
            let first = world.jobs.start_due(job, world.clock.now()).await.unwrap();
            let due = first.unwrap();
            assert_eq!(world.operations(&instance, "job").await, 0, "{job} is not due yet");
            // A downtime of several intervals.
            let late = due + Duration::from_hours(100);

            let starts = replicas.iter().map(|jobs| jobs.start_due(job, late));
            for started in futures::future::join_all(starts).await {
                assert_eq!(started.unwrap(), None, "{job}");
            }

            assert_eq!(world.operations(&instance, "job").await, 1, "{job}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_run_is_due_one_interval_after_the_last_and_dry_runs_do_not_count() {
    let world = World::new(Settings::default()).await;
    let run = world.run("expiry", false).await;
    world.run("expiry", true).await;

    let view = world.jobs.find("expiry").await.unwrap();

    assert_eq!(view.next_run_at, Some(run.started_at + Duration::from_hours(1)));
    assert_eq!(view.last_run.unwrap().requested_by.as_deref(), Some("jo"));
    assert!(view.last_dry_run.is_some() && view.enabled);
    let soon = world.clock.now() + Duration::from_mins(10);
    assert!(world.jobs.start_due("expiry", soon).await.unwrap().is_some());
    let later = world.clock.now() + Duration::from_hours(2);
    assert_eq!(world.jobs.start_due("expiry", later).await.unwrap(), None);
    assert_eq!(world.ended("expiry", false).await.requested_by, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_requests_at_once_are_one_run() {
    let world = World::new(all_enabled()).await;
    world.engine.kill();
    for job in broker::jobs::names() {
        let asked = (0..5).map(|_| world.jobs.run(job, false, "jo"));
        let runs = futures::future::join_all(asked).await;

        let runs: Vec<_> = runs.into_iter().map(Result::unwrap).collect();
        assert_eq!(runs.iter().filter(|run| run.started).count(), 1, "{job}");
        let operations: BTreeSet<String> =
            runs.iter().map(|run| run.operation.to_string()).collect();
        assert_eq!(operations.len(), 1, "{job}");
        let dry = world.jobs.run(job, true, "jo").await.unwrap();
        assert!(dry.started, "a dry run of {job} need not wait");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_off_is_not_due_and_can_be_run_by_hand() {
    let off = JobSettings { enabled: Some(false), ..JobSettings::default() };
    let dry = JobSettings { dry_run: true, rate: NonZeroU32::MIN, ..JobSettings::default() };
    let jobs = [("archive", off), ("expiry", dry)].into();
    let world = World::new(Settings { jobs, ..Settings::default() }).await;
    let late = world.clock.now() + Duration::from_hours(1_000);

    assert_eq!(world.jobs.start_due("archive", late).await.unwrap(), None);
    assert_eq!(world.operations("job/archive", "job").await, 0);
    assert_eq!(world.counts("archive", false).await, [0, 0, 0, 0]);
    order(&world.days_ago(20), "old", crate::world::TRIAL, "sa-1").await;
    order(&world.days_ago(20), "paid", AWS, "sa-1").await;
    assert_eq!(world.jobs.start_due("expiry", late).await.unwrap(), None);
    world.ended("expiry", true).await;
    assert_eq!(world.store.find("old").await.unwrap().unwrap().expired_at, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_listed_and_unknown_ones_are_refused() {
    let world = World::new(Settings::default()).await;

    let listed: Vec<&str> = world.jobs.list().await.unwrap().iter().map(|job| job.name).collect();

    assert_eq!(listed, broker::jobs::names().collect::<Vec<_>>());
    let refused = world.jobs.run("nothing", false, "jo").await.unwrap_err();
    assert!(matches!(refused, Error::Unknown(_)), "{refused}");
}

/// The jobs, each with a system that it needs.
const NEEDED: [(&str, &str); 4] = [
    ("subaccount-cleanup", "cis"),
    ("environment-cleanup", "gardener"),
    ("subscription-cleanup", "gardener"),
    ("drift", "gardener"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_run_waits_for_a_system_that_is_down_and_then_does_the_same() {
    let world = World::new(all_enabled()).await;
    for (job, system) in NEEDED {
        let expected = world.counts(job, true).await;
        world.down(system, 2);

        let after = world.counts(job, true).await;

        assert_eq!(after, expected, "{job} after {system} was down");
        let left = world.running.landscape.troubles().active();
        assert!(left.is_empty(), "{job} has not met {left:?}");
    }
}
