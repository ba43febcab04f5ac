//! Removed instances are archived, and what is kept is told.

use std::{num::NonZeroU16, time::Duration};

use broker::{
    instances::{Caller, Error, Progress},
    jobs::{ArchiveSettings, LastRun, Settings},
};
use engine::State;
use store::{Moment, broker::ArchivedInstance};
use uuid::Uuid;

use crate::{
    auditing::entries,
    world::{AWS, TRIAL, World, counts, order},
};

fn at_once(page: u16) -> Settings {
    let archive = ArchiveSettings {
        after: Duration::ZERO,
        page: NonZeroU16::new(page).unwrap(),
        ..ArchiveSettings::default()
    };
    Settings { archive, ..Settings::default() }
}

/// An instance that was archived some days ago.
fn archived(world: &World, instance: &str, days: u32) -> ArchivedInstance {
    let at = Moment::from(world.clock.now() - Duration::from_hours(24) * days);
    ArchivedInstance {
        instance: instance.into(),
        global_account: "ga-1".into(),
        subscription_global_account: "ga-1".into(),
        subaccount: "sa-1".into(),
        plan_id: AWS.into(),
        plan_name: "aws".into(),
        provider: "aws".into(),
        region: "eu-central-1".into(),
        platform_region: "cf-eu10".into(),
        shoot_name: "c-1".into(),
        last_runtime_id: None,
        internal_user: false,
        provisioning_state: "succeeded".into(),
        provisioning_started_at: None,
        provisioning_finished_at: None,
        first_deprovisioning_started_at: at,
        first_deprovisioning_finished_at: at,
        last_deprovisioning_finished_at: at,
        last_operation: Uuid::nil(),
        archived_at: at,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_instance_is_archived_and_still_told_to_its_owner() {
    for world in World::both(|| at_once(50)).await {
        world.removed("gone").await;
        world.made(1, "there", None).await;
        world.left_over("left").await;

        assert_eq!(world.counts("archive", true).await, [1, 1, 0, 0]);
        assert_eq!(world.operations("gone", "deprovision").await, 1);
        assert_eq!(world.counts("archive", false).await, [1, 1, 0, 0]);

        let kept = world.store.find_archived("gone").await.unwrap().unwrap();
        assert_eq!((kept.plan_name.as_str(), kept.global_account.as_str()), ("aws", "ga-1"));
        assert_eq!(kept.provisioning_state, "succeeded");
        assert!(kept.provisioning_started_at.is_some() && !kept.internal_user);
        assert!(kept.first_deprovisioning_finished_at <= kept.last_deprovisioning_finished_at);
        assert_eq!(world.operations("gone", "deprovision").await, 0);
        for other in ["there", "left"] {
            assert_eq!(world.operations(other, "provision").await, 1, "{other}");
        }
        let broker = &world.env.broker;
        let told = broker.last_operation(&Caller::default(), "gone", None).await.unwrap();
        assert_eq!(told.progress, Progress::Succeeded);
        assert_eq!(told.description, "Operation succeeded. The instance was deprovisioned.");
        let stranger = Caller { tenant: Some("ga-2".into()), ..Caller::default() };
        let hidden = broker.last_operation(&stranger, "gone", None).await.unwrap_err();
        assert!(matches!(hidden, Error::NotFound(_)), "{hidden}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_archive_tells_instances_of_internal_users_from_those_of_others() {
    for world in World::both(|| at_once(50)).await {
        world.removed_of_user("inner", "x@sap.com").await;
        world.removed_of_user("outer", "x@example.test").await;

        world.run("archive", false).await;

        for (instance, internal) in [("inner", true), ("outer", false)] {
            let kept = world.store.find_archived(instance).await.unwrap().unwrap();
            assert_eq!(kept.internal_user, internal, "{instance}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_archive_has_what_the_last_removal_knew_and_a_suspension_is_no_removal() {
    let world = World::new(at_once(50)).await;
    world.suspended_and_removed("gone").await;
    let all = world.env.broker.parts().operations.of_instances(&["gone"]).await.unwrap();
    let of = |kind: &str| {
        let mut found: Vec<_> = all.iter().filter(|it| it.kind == kind).cloned().collect();
        found.sort_by_key(|it| it.created_at);
        found
    };
    let (made, removals) = (of("provision"), of("deprovision"));
    assert_eq!((made.len(), removals.len()), (1, 2));

    world.run("archive", false).await;

    let kept = world.store.find_archived("gone").await.unwrap().unwrap();
    let removal = &removals[1];
    let (started, ended) = (removal.created_at.into(), removal.ended_at.unwrap().into());
    let archived = ArchivedInstance {
        instance: "gone".into(),
        global_account: "ga-2".into(),
        subscription_global_account: "ga-2".into(),
        subaccount: "sa-2".into(),
        plan_id: TRIAL.into(),
        plan_name: "trial".into(),
        provider: "azure".into(),
        region: kept.region.clone(),
        platform_region: "cf-eu10".into(),
        shoot_name: kept.shoot_name.clone(),
        last_runtime_id: None,
        internal_user: false,
        provisioning_state: "succeeded".into(),
        provisioning_started_at: Some(made[0].created_at.into()),
        provisioning_finished_at: made[0].ended_at.map(Into::into),
        first_deprovisioning_started_at: started,
        first_deprovisioning_finished_at: ended,
        last_deprovisioning_finished_at: ended,
        last_operation: removal.id,
        archived_at: kept.archived_at,
    };
    assert_eq!(kept, archived);
    assert!(kept.region.ends_with("europe") && !kept.shoot_name.is_empty(), "{kept:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn archived_instances_and_runs_are_kept_for_their_own_time() {
    let mut settings = at_once(50);
    settings.archive.keep = Duration::ZERO;
    let world = World::new(settings).await;
    world.removed("gone").await;
    world.run("archive", false).await;
    world.run("archive", false).await;
    assert_eq!(world.store.find_archived("gone").await.unwrap(), None);
    assert_eq!(world.operations("job/archive", "job").await, 2, "runs are kept longer");

    let mut settings = at_once(50);
    settings.archive.keep_runs = Duration::ZERO;
    let world = World::new(settings).await;
    world.removed("gone").await;
    for _ in 0..3 {
        world.run("archive", false).await;
    }
    assert!(world.store.find_archived("gone").await.unwrap().is_some());
    let runs = world.operations("job/archive", "job").await;
    assert!(runs < 3, "the newest run, and the one that deleted: {runs}");
}

#[tokio::test(flavor = "multi_thread")]
async fn archived_instances_are_deleted_in_batches_with_an_entry_each_and_a_dry_run_counts_them() {
    for world in World::both(|| at_once(50)).await {
        let mut all: Vec<ArchivedInstance> =
            (0..1_001).map(|number| archived(&world, &format!("old-{number}"), 400)).collect();
        all.push(archived(&world, "young", 364));
        world.store.import_archived(&all).await.unwrap();
        let told = |run: &LastRun| -> Vec<String> {
            run.report.details.iter().map(|it| format!("{}: {}", it.item, it.text)).collect()
        };

        let dry = world.run("archive", true).await;
        assert_eq!(told(&dry), ["archived instances: 1001: would be deleted"]);
        assert!(entries(&world, dry.operation).await.is_empty());
        assert!(world.store.find_archived("old-0").await.unwrap().is_some());

        let run = world.run("archive", false).await;
        assert_eq!(
            told(&run),
            [
                "archived instances: 500: 500 deleted",
                "archived instances: 500: 500 deleted",
                "archived instances: 1: 1 deleted",
            ]
        );
        let audit = entries(&world, run.operation).await;
        assert_eq!(audit.len(), 3, "{audit:#?}");
        assert!(audit.iter().all(|it| it.action == "forgetArchived"), "{audit:#?}");
        let left = world.store.archived_page(None, "", 10).await.unwrap();
        let left: Vec<&str> = left.iter().map(|it| it.instance.as_str()).collect();
        assert_eq!(left, ["young"]);
        assert_eq!(world.counts("archive", false).await, [0, 0, 0, 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_archive_is_told_page_by_page_and_by_account() {
    for world in World::both(|| at_once(50)).await {
        for id in ["gone-1", "gone-2", "gone-3"] {
            world.removed(id).await;
        }
        world.counts("archive", false).await;
        let broker = &world.env.broker;
        let told = async |account: Option<&str>, after: Option<&str>, most| {
            let page = broker.archive(account, after, most).await.unwrap();
            let ids: Vec<String> = page.archived.into_iter().map(|it| it.instance).collect();
            (ids.join(" "), page.next)
        };

        assert_eq!(told(None, None, 2).await, ("gone-1 gone-2".into(), Some("gone-2".into())));
        assert_eq!(told(Some("ga-1"), Some("gone-2"), 2).await, ("gone-3".into(), None));
        assert_eq!(told(Some("ga-2"), None, 2).await, (String::new(), None));
        let one = broker.archived_instance("gone-1").await.unwrap().unwrap();
        assert_eq!((one.plan_name.as_str(), one.provisioning_state.as_str()), ("aws", "succeeded"));
        assert_eq!(broker.archived_instance("unknown").await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_removed_lately_is_kept() {
    let world = World::new(Settings::default()).await;
    world.removed("gone").await;
    order(&world.env.broker, "there", AWS, "sa-1").await;

    assert_eq!(world.counts("archive", false).await, [0, 0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_killed_in_the_middle_is_finished_by_another_replica() {
    let mut settings = at_once(1);
    // A page takes at least a tenth of a second: the world is a thousand times faster.
    let slow = broker::jobs::JobSettings {
        rate: std::num::NonZeroU32::new(1).unwrap(),
        ..broker::jobs::JobSettings::default()
    };
    settings.jobs = [("archive", slow)].into();
    let mut world = World::new(settings).await;
    for instance in ["a", "b", "c", "d", "e", "f"] {
        world.removed(instance).await;
    }
    let started = world.jobs.run("archive", false, "jo").await.unwrap();
    while world.store.find_archived("a").await.unwrap().is_none() {
        world.clock.sleep(Duration::from_millis(5)).await;
    }
    world.engine.kill();
    world.restart().await;

    let run = world.ended("archive", false).await;

    assert_eq!(run.operation, started.operation);
    assert_eq!(run.state, State::Succeeded, "{:?}", run.failure);
    for instance in ["a", "b", "c", "d", "e", "f"] {
        assert!(world.store.find_archived(instance).await.unwrap().is_some(), "{instance}");
    }
    let [candidates, done, ..] = counts(&run);
    assert!(candidates == done && done >= 5, "{:?}", run.report);
}
