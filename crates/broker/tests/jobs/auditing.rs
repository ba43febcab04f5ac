//! What jobs change is in the audit; what they would change is not.

use std::time::Duration;

use broker::jobs::{ArchiveSettings, EnvironmentSettings, JobSettings, Settings};
use domain::OperationId;
use serde_json::{Value, json};
use store::audit::{AuditEntry, AuditLog};
use uuid::Uuid;

use crate::{
    bindings::expired,
    world::{AWS, TRIAL, World, order},
};

fn settings() -> Settings {
    let older_than = Duration::from_millis(1);
    let environments =
        EnvironmentSettings { allowed: true, older_than, ..EnvironmentSettings::default() };
    let archive = ArchiveSettings { after: Duration::ZERO, ..ArchiveSettings::default() };
    Settings { environments, archive, ..Settings::default() }
}

/// The entries of a run.
pub(crate) async fn entries(world: &World, run: OperationId) -> Vec<AuditEntry> {
    let log = AuditLog::new(world.env.broker.parts().operations.clone());
    log.of(&[], &[run.uuid()], 100).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_of_a_job_is_an_entry_and_dry_runs_have_none() {
    for world in World::both(settings).await {
        order(&world.days_ago(20), "old", TRIAL, "sa-1").await;
        world.left_over("left").await;
        order(&world.env.broker, "deleted", AWS, "sa-5").await;
        world.tell("cis", "create-subaccount", &json!({ "id": "sa-5" }));
        world.tell("cis", "delete-subaccount", &json!({ "id": "sa-5" }));
        world.shoot("nobodys", json!({})).await;
        world.removed("gone").await;
        // The runtime of the binding is gone, and the binding with it.
        let old = Uuid::from_u128(7);
        world.made(1, "moved", Some(old)).await;
        expired(&world, "moved", old).await;
        world.moved("moved", Uuid::from_u128(8)).await;
        for (job, action, item, instance) in [
            ("expiry", "expire", "old", Some("old")),
            ("deprovision-retrigger", "retrigger", "left", Some("left")),
            ("subaccount-cleanup", "deprovision", "deleted", Some("deleted")),
            ("environment-cleanup", "deleteShoot", "nobodys", Some("job/environment-cleanup")),
            ("archive", "archive", "gone", Some("gone")),
            ("binding-cleanup", "unbind", "moved/b-1", Some("moved")),
        ] {
            let dry = world.run(job, true).await;
            assert!(entries(&world, dry.operation).await.is_empty(), "{job}");

            let run = world.run(job, false).await;

            let found = entries(&world, run.operation).await;
            assert_eq!(found.len(), 1, "{job}: {found:#?}");
            let entry = &found[0];
            assert_eq!((entry.action.as_str(), entry.instance.as_deref()), (action, instance));
            assert_eq!((entry.subject.as_str(), entry.issuer.as_str()), (job, "job"));
            assert_eq!(entry.result.as_deref(), Some("accepted"), "{entry:?}");
            assert_eq!(entry.agent.as_deref(), Some(format!("kcp-job/{job}").as_str()));
            let details: Value = serde_json::from_str(&entry.details).unwrap();
            assert_eq!(details, json!({"item": item, "requested_by": "jo"}));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_by_the_clock_is_one_entry_and_its_actions_have_their_own() {
    for (dry_run, actions) in [(false, &["runJob", "expire", "expire"][..]), (true, &["runJob"])] {
        let job = JobSettings { dry_run, ..JobSettings::default() };
        let settings = || Settings { jobs: [("expiry", job)].into(), ..Settings::default() };
        for world in World::both(settings).await {
            for (instance, subaccount) in [("old", "sa-1"), ("older", "sa-2")] {
                order(&world.days_ago(20), instance, TRIAL, subaccount).await;
            }
            let late = world.clock.now() + Duration::from_hours(10);
            assert_eq!(world.jobs.start_due("expiry", late).await.unwrap(), None);

            let run = world.ended("expiry", dry_run).await;

            assert_eq!(run.requested_by, None);
            let found = entries(&world, run.operation).await;
            let told: Vec<&str> = found.iter().map(|entry| entry.action.as_str()).collect();
            assert_eq!(told, actions, "{found:#?}");
            let entry = &found[0];
            assert_eq!((entry.subject.as_str(), entry.issuer.as_str()), ("expiry", "job"));
            assert_eq!(entry.agent.as_deref(), Some("kcp-job/expiry"));
            assert_eq!(entry.result.as_deref(), Some("accepted"));
            assert_eq!(entry.reason.as_deref(), Some("it was due"));
            let instance = if dry_run { "job/expiry/dry-run" } else { "job/expiry" };
            assert_eq!(entry.instance.as_deref(), Some(instance));
            let details: Value = serde_json::from_str(&entry.details).unwrap();
            assert_eq!(details, json!({"job": "expiry", "dry_run": dry_run}));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_emptied_and_released_by_two_entries_and_what_failed_is_refused() {
    let world = World::new(Settings::default()).await;
    world.tell("aws", "add-key", &json!({ "key": "AKIA-aws-dirty-1" }));
    let with = json!({
        "key": "AKIA-aws-dirty-1", "id": "vol-1", "region": "cn-north-1", "in_use": true,
    });
    world.tell("aws", "add-volume", &with);

    let run = world.run("subscription-cleanup", false).await;

    let found = entries(&world, run.operation).await;
    let of = |item: &str| -> Vec<(&str, &str)> {
        let is = |it: &&AuditEntry| it.details.contains(&format!("\"{item}\""));
        found
            .iter()
            .filter(is)
            .map(|it| (it.action.as_str(), it.result.as_deref().unwrap_or_default()))
            .collect()
    };
    assert_eq!(of("aws-dirty-1"), [("emptyAccount", "refused")]);
    let gcp = of("gcp-dirty-1");
    assert_eq!(gcp, [("emptyAccount", "accepted"), ("releaseAccount", "accepted")]);
}
