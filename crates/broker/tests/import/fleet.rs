//! Orchestrations and the archive of the original, taken over.

use std::sync::Arc;

use broker::{
    instances::Caller,
    orchestrations::{
        Followers, OrchestrationEnv, Orchestrations, PageRequest, Retry, WindowSource,
        source::WindowFacts,
    },
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use store::{
    import::{Finding, Mode},
    testing::originals::OriginalDatabase,
};

use crate::{
    original::{Original, database},
    world::World,
};

const ENDED: &str = "11111111-0000-4000-8000-000000000001";
const RUNNING: &str = "11111111-0000-4000-8000-000000000002";
const FIRST_TRY: &str = "22222222-0000-4000-8000-000000000001";
const SECOND_TRY: &str = "22222222-0000-4000-8000-000000000002";
const OTHER: &str = "22222222-0000-4000-8000-000000000003";
const INTERRUPTED: &str = "22222222-0000-4000-8000-000000000004";

struct NoWindows;

impl WindowSource for NoWindows {
    fn read(&self) -> BoxFuture<'_, Result<WindowFacts, clients::Error>> {
        Box::pin(async { Ok(WindowFacts::default()) })
    }
}

fn use_cases(world: &World) -> Orchestrations {
    Orchestrations::new(Arc::new(OrchestrationEnv {
        broker: world.broker.clone(),
        windows: Arc::new(NoWindows),
        spc: None,
        kyma_version: "2.10.0".into(),
        versions: None,
        followers: Followers::default(),
    }))
}

fn orchestration(id: &str, state: &str) -> Value {
    json!({
        "orchestration_id": id, "type": "upgradeCluster", "created_at": "2026-02-01T00:00:00Z",
        "updated_at": "2026-02-01T01:00:00Z", "state": state, "description": "Scheduled 2 operations",
        "parameters": json!({
            "targets": {"include": [{"target": "all"}]},
            "strategy": {"type": "parallel", "schedule": "immediate", "ScheduleTime": "0001-01-01T00:00:00Z",
                "parallel": {"workers": 3}},
            "kubernetes": {"kubernetesVersion": "1.32.4", "machineImage": "", "machineImageVersion": ""},
            "retryoperation": {},
        }).to_string(),
    })
}

/// An upgrade of an instance in an orchestration.
fn upgrade(of: &Original, orchestration: &str, (id, state, minute): (&str, &str, u8)) -> Value {
    let mut operation = of.operations[0].clone();
    operation["id"] = id.into();
    operation["type"] = "upgradeCluster".into();
    operation["state"] = state.into();
    operation["description"] = format!("{state} in the original").into();
    operation["orchestration_id"] = orchestration.into();
    operation["created_at"] = format!("2026-02-01T00:{minute:02}:00Z").into();
    operation["updated_at"] = format!("2026-02-01T00:{minute:02}:30Z").into();
    operation["data"]["runtime_operation"] = json!({
        "instanceId": of.id(), "runtimeId": of.instance["runtime_id"], "shootName": operation["data"]["shoot_name"],
        "globalAccountId": of.instance["global_account_id"], "subaccountId": of.instance["sub_account_id"],
        "maintenanceWindowBegin": "2026-02-01T00:00:00Z", "maintenanceWindowEnd": "2026-02-01T02:00:00Z",
        "plan": of.plan, "dryRun": false,
    });
    operation
}

/// One instance was tried twice and failed, another one succeeded.
async fn with_failed_orchestration() -> (OriginalDatabase, Vec<Original>) {
    let (from, all) = database(2).await;
    from.insert("orchestrations", &[orchestration(ENDED, "failed")]).await;
    let upgrades = [
        upgrade(&all[0], ENDED, (FIRST_TRY, "failed", 1)),
        upgrade(&all[1], ENDED, (OTHER, "succeeded", 2)),
        upgrade(&all[0], ENDED, (SECOND_TRY, "failed", 3)),
    ];
    from.insert("operations", &upgrades).await;
    (from, all)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_orchestration_is_told_as_the_original_told_it() {
    let (from, all) = with_failed_orchestration().await;
    for world in World::both().await {
        let dry = world.import(&from, Mode::DryRun).await;
        let report = world.import(&from, Mode::Apply).await;

        assert_eq!(dry, report);
        let counts = report.counts["orchestrations"];
        assert_eq!((counts.found, counts.taken, counts.left_out), (1, 1, 0));
        let cases = use_cases(&world);
        let told = cases.get(ENDED).await.unwrap();
        assert_eq!((told.state.as_str(), told.kind.as_str()), ("failed", "upgradeCluster"));
        assert_eq!(told.description, "Scheduled 2 operations");
        assert_eq!(told.created_at.to_string(), "2026-02-01T00:00:00Z");
        assert_eq!(told.parameters.strategy.parallel.workers, 3);
        let stats = told.operation_stats.unwrap();
        assert_eq!(
            (stats["failed"], stats["succeeded"]),
            (1, 1),
            "tries of one instance count once"
        );
        let page = cases.operations(ENDED, &PageRequest::default()).await.unwrap();
        let mut ids: Vec<String> =
            page.data.iter().map(|one| one.operation_id.to_string()).collect();
        ids.sort();
        assert_eq!(ids, [FIRST_TRY, SECOND_TRY, OTHER]);
        let other = page.data.iter().find(|one| one.operation_id.to_string() == OTHER).unwrap();
        assert_eq!(other.instance_id, all[1].id());
        assert_eq!(
            (other.service_plan_name.as_str(), other.state.as_str()),
            (all[1].plan, "succeeded")
        );
        assert_eq!(other.maintenance_window_begin.to_string(), "2026-02-01T00:00:00Z");
        let again = world.import(&from, Mode::Apply).await.counts["orchestrations"];
        assert_eq!((again.taken, again.present), (0, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_dry_run_that_failed_leaves_its_runtime_as_it_stood() {
    for (dry, word) in [(true, "succeeded"), (false, "error")] {
        let (from, all) = database(1).await;
        let mut ended = orchestration(ENDED, "failed");
        let mut parameters: Value =
            serde_json::from_str(ended["parameters"].as_str().unwrap()).unwrap();
        parameters["dryRun"] = json!(dry);
        ended["parameters"] = parameters.to_string().into();
        from.insert("orchestrations", &[ended]).await;
        let mut failed = upgrade(&all[0], ENDED, (FIRST_TRY, "failed", 1));
        failed["data"]["runtime_operation"]["dryRun"] = json!(dry);
        from.insert("operations", &[failed]).await;
        for world in World::both().await {
            world.import(&from, Mode::Apply).await;

            let shown = &world.runtimes("all").await[0];
            assert_eq!(shown.status.state, word, "dry run: {dry}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_in_an_imported_orchestration_can_be_tried_again() {
    let (from, all) = with_failed_orchestration().await;
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;
        let cases = use_cases(&world);

        let retried = cases.retry(ENDED, &Retry::default()).await.unwrap();

        let shoot = all[0].operations[0]["data"]["shoot_name"].as_str().unwrap();
        assert_eq!(retried.retry_shoots.unwrap(), [shoot]);
        let told = cases.get(ENDED).await.unwrap();
        assert_eq!(told.state, "retrying");
        assert_eq!(told.operation_stats.unwrap()["pending"], 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orchestration_that_had_not_ended_is_left_to_the_original_unless_it_is_stopped_for_good()
{
    let (from, all) = database(2).await;
    from.insert("orchestrations", &[orchestration(RUNNING, "in progress")]).await;
    let upgrades = [
        upgrade(&all[0], RUNNING, (INTERRUPTED, "in progress", 1)),
        upgrade(&all[1], RUNNING, (OTHER, "pending", 2)),
    ];
    from.insert("operations", &upgrades).await;
    let about = |findings: &[Finding]| {
        let found = findings.iter().find(|it| it.subject.contains(RUNNING));
        found.map(ToString::to_string).unwrap_or_default()
    };
    for world in World::both().await {
        let left = world.import(&from, Mode::Apply).await;
        assert!(about(&left.findings).contains("--unfinished"), "{:#?}", left.findings);
        assert_eq!(left.counts["orchestrations"].left_out, 1);
        assert!(use_cases(&world).get(RUNNING).await.is_err());

        let taken = world.import_as(&from, Mode::Apply, true).await.unwrap();

        assert!(about(&taken.findings).contains("retry"), "{:#?}", taken.findings);
        let told = use_cases(&world).get(RUNNING).await.unwrap();
        assert_eq!(told.state, "failed");
        let stats = told.operation_stats.unwrap();
        assert_eq!((stats["failed"], stats["canceled"]), (1, 1), "what had not begun is canceled");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn orchestrations_that_cannot_be_read_are_listed_one_by_one() {
    let (from, _) = database(1).await;
    let broken = |id: &str, field: &str, value: &str| {
        let mut row = orchestration(id, "succeeded");
        row[field] = value.into();
        row
    };
    let rows = [
        broken("not-a-uuid", "state", "succeeded"),
        broken("11111111-0000-4000-8000-000000000003", "type", "upgradeEverything"),
        broken("11111111-0000-4000-8000-000000000004", "parameters", "[1, 2]"),
        broken("11111111-0000-4000-8000-000000000005", "state", "wondering"),
        orchestration(ENDED, "succeeded"),
    ];
    from.insert("orchestrations", &rows).await;
    for world in World::both().await {
        let report = world.import(&from, Mode::Apply).await;

        let counts = report.counts["orchestrations"];
        assert_eq!((counts.found, counts.taken, counts.left_out), (5, 1, 4), "{report:#?}");
        let told = report.findings.iter().filter(|it| it.subject.starts_with("orchestration "));
        assert_eq!(told.count(), 4, "{report:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_archive_is_taken_over_and_answers_for_its_instances() {
    let (from, all) = database(1).await;
    let archived = |id: &str, removed: Value| {
        json!({
            "instance_id": id, "global_account_id": "account-1", "last_runtime_id": "33333333-0000-4000-8000-000000000001",
            "subscription_global_account_id": "payer", "subaccount_id": "subaccount-9", "plan_id": "p", "plan_name": "aws",
            "region": "eu-central-1", "subaccount_region": "cf-eu10", "provider": "AWS", "shoot_name": "c-archived",
            "internal_user": true, "provisioning_started_at": "2025-01-01T00:00:00Z",
            "provisioning_finished_at": "2025-01-01T00:30:00Z", "first_deprovisioning_started_at": removed,
            "first_deprovisioning_finished_at": removed, "last_deprovisioning_finished_at": removed,
            "provisioning_state": "succeeded",
        })
    };
    let removed_at = "2025-06-01T00:00:00Z";
    let rows = [
        archived("archived-1", removed_at.into()),
        archived("archived-2", Value::Null),
        archived(all[0].id(), removed_at.into()),
    ];
    from.insert("instances_archived", &rows).await;
    for world in World::both().await {
        let dry = world.import(&from, Mode::DryRun).await.counts["archived instances"];
        assert_eq!((dry.found, dry.left_out), (3, 1));
        assert!(world.store.find_archived("archived-1").await.unwrap().is_none());

        let report = world.import(&from, Mode::Apply).await;

        let counts = report.counts["archived instances"];
        assert_eq!((counts.taken, counts.present, counts.left_out), (1, 1, 1), "{report:#?}");
        assert!(report.findings.iter().any(|it| it.problem.contains("when it was removed")));
        let kept = world.store.find_archived("archived-1").await.unwrap().unwrap();
        assert_eq!((kept.provider.as_str(), kept.platform_region.as_str()), ("aws", "cf-eu10"));
        assert!(kept.internal_user && kept.last_runtime_id.is_some());
        assert_eq!(jiff::Timestamp::from(kept.archived_at).to_string(), removed_at);
        let caller = Caller::default();
        let last = world.broker.last_operation(&caller, "archived-1", None).await.unwrap();
        assert!(last.description.contains("deprovisioned"), "{last:?}");
        let again = world.import(&from, Mode::Apply).await.counts["archived instances"];
        assert_eq!((again.taken, again.present), (0, 2));
    }
}
