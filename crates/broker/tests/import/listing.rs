//! What pages of runtimes tell after an import is what the original's rows say.

use std::{collections::BTreeMap, time::Instant};

use broker::{
    Details, Order,
    runtimes::{OperationItem, Runtime},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::import::Mode;

use crate::{
    original::{DRY_RUN, Original, PLANS, Situation, database, fill},
    world::World,
};

/// Names how many instances there are.
const INSTANCES: &str = "KCP_IMPORT_INSTANCES";

/// How many instances: every plan in every situation, several times.
fn instances() -> usize {
    std::env::var(INSTANCES).map_or(1_000, |number| number.parse().unwrap())
}

/// How long an import takes, and how much more memory the process has meanwhile.
struct Measure {
    began: Instant,
    before: f64,
}

impl Measure {
    fn begin() -> Self {
        // The most memory is counted anew from here on.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        Self { began: Instant::now(), before: memory("VmRSS:") }
    }

    /// Tells what it was, for the size that was asked for.
    fn tell(&self, instances: usize) {
        if std::env::var_os(INSTANCES).is_some() {
            let (took, more) = (self.began.elapsed(), memory("VmHWM:") - self.before);
            eprintln!("{instances} instances imported in {took:.1?}, {more:.1} MiB more memory");
        }
    }
}

/// A line of what the system knows of this process, in MiB.
fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kibibytes.unwrap_or_default() / 1024.0
}

fn time(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

/// Operations as a page tells them, the oldest first.
fn told(runtime: &Value) -> BTreeMap<String, Value> {
    let status = &runtime["status"];
    let mut all = vec![status["provisioning"].clone(), status["deprovisioning"].clone()];
    for group in ["update", "upgradingKyma", "upgradingCluster", "suspension", "unsuspension"] {
        all.extend(status[group]["data"].as_array().into_iter().flatten().cloned());
    }
    let named = |it: Value| Some((it["operationID"].as_str()?.to_owned(), it));
    all.into_iter().filter_map(named).collect()
}

/// When the original wrote its newest operation that is not pending.
fn modified_at(row: &Value, operations: &[Value]) -> Timestamp {
    let newest = operations.iter().rev().find(|it| it["state"] != "pending");
    time(&newest.unwrap_or(row)["updated_at"])
}

/// The version of Kyma that the newest order was about, or an upgrade that was worked on.
fn version_of_kyma(operations: &[Value]) -> Option<&str> {
    let worked_on = |it: &Value| {
        !["pending", "canceled"].contains(&it["state"].as_str().unwrap())
            && it["data"]["runtime_operation"]["dryRun"] != true
    };
    let mut newest = operations.iter().rev().filter(|it| match it["type"].as_str() {
        Some("provision") => true,
        Some("upgradeKyma") => worked_on(it),
        _ => false,
    });
    newest.find_map(|it| it["data"]["runtime_version"]["version"].as_str())
}

/// A time that the original may not have, which it writes as NULL or as the first moment of the first year.
fn maybe_time(value: &Value) -> Option<Timestamp> {
    let said = value.as_str().filter(|text| !text.starts_with("0001-01-01"));
    said.map(|text| text.parse().unwrap())
}

/// Every field of a page of runtimes, against the row and the operations (oldest first) of the original.
pub(crate) fn check_fields(row: &Value, operations: &[Value], runtime: &Runtime) {
    let shown = serde_json::to_value(runtime).unwrap();
    for (ours, theirs) in [
        ("instanceID", "instance_id"),
        ("runtimeID", "runtime_id"),
        ("globalAccountID", "global_account_id"),
        ("subscriptionGlobalAccountID", "subscription_global_account_id"),
        ("subAccountID", "sub_account_id"),
        ("region", "provider_region"),
        ("provider", "provider"),
        ("serviceClassID", "service_id"),
        ("servicePlanID", "service_plan_id"),
        ("servicePlanName", "service_plan_name"),
    ] {
        assert_eq!(shown[ours], row[theirs], "{ours} of {row:#}");
    }
    let newest = &operations.last().unwrap()["data"];
    assert_eq!(shown["shootName"], newest["shoot_name"]);
    let parameters = row["provisioning_parameters"].as_str().unwrap();
    let parameters: Value = serde_json::from_str(parameters).unwrap();
    assert_eq!(shown["userID"], parameters["ers_context"]["user_id"]);
    assert_eq!(shown["subAccountRegion"], parameters["platform_region"]);
    assert_eq!(shown["parameters"]["name"], parameters["parameters"]["name"]);
    assert_eq!(shown["parameters"].get("kubeconfig"), None);
    assert_eq!(shown["avsInternalEvaluationID"], newest["avs"]["avs_evaluation_internal_id"]);
    assert_eq!(runtime.kyma_version.as_deref(), version_of_kyma(operations), "{row:#}");
    let status = &runtime.status;
    assert_eq!(status.created_at, time(&row["created_at"]));
    assert_eq!(status.modified_at, modified_at(row, operations), "{row:#}");
    assert_eq!(status.expired_at, maybe_time(&row["expired_at"]));
    assert_eq!(status.deleted_at, maybe_time(&row["deleted_at"]));
}

/// How many operations a page tells of a runtime; each of them is compared with the original's.
pub(crate) fn check_operations(operations: &[Value], runtime: &Runtime) -> usize {
    let told = told(&serde_json::to_value(runtime).unwrap());
    for (id, item) in &told {
        let operation = operations.iter().find(|it| it["id"] == id.as_str()).unwrap();
        assert_ne!(operation["description"], DRY_RUN);
        assert_eq!(time(&item["createdAt"]), time(&operation["created_at"]));
        assert_eq!(time(&item["updatedAt"]), time(&operation["updated_at"]));
        if ["succeeded", "failed"].contains(&operation["state"].as_str().unwrap()) {
            assert_eq!(item["state"], operation["state"]);
            assert_eq!(item["description"], operation["description"]);
        }
        let orchestration = operation["orchestration_id"].as_str().filter(|id| !id.is_empty());
        assert_eq!(item["orchestrationID"].as_str(), orchestration);
    }
    told.len()
}

fn check(original: &Original, runtime: &Runtime) {
    assert_eq!(Some(runtime.status.state), original.situation.word(), "{original:?}");
    check_fields(&original.instance, &original.operations, runtime);
    check_all_operations(original, runtime);
}

/// A page tells every operation but dry runs.
fn check_all_operations(original: &Original, runtime: &Runtime) {
    let expected = original.operations.iter().filter(|it| it["description"] != DRY_RUN).count();
    assert_eq!(check_operations(&original.operations, runtime), expected, "{original:?}");
}

/// Of an instance whose row is gone, a page tells what its operations say; the customer is forgotten.
fn check_removed(original: &Original, runtime: &Runtime) {
    let operations = &original.operations;
    let shown = serde_json::to_value(runtime).unwrap();
    let removal = operations.last().unwrap();
    let order = &removal["provisioning_parameters"];
    for (ours, theirs) in [
        ("runtimeID", &removal["data"]["runtime_id"]),
        ("shootName", &removal["data"]["shoot_name"]),
        ("globalAccountID", &order["ers_context"]["globalaccount_id"]),
        ("subAccountID", &order["ers_context"]["subaccount_id"]),
        ("subAccountRegion", &order["platform_region"]),
        ("serviceClassID", &order["service_id"]),
        ("servicePlanID", &order["plan_id"]),
    ] {
        assert_eq!(&shown[ours], theirs, "{ours} of {original:?}");
    }
    assert_eq!(runtime.service_plan_name, original.plan);
    assert_eq!((runtime.user_id.as_str(), runtime.parameters.is_some()), ("", false));
    assert_eq!(runtime.subscription_global_account_id, "");
    assert_eq!(runtime.kyma_version.as_deref(), version_of_kyma(operations), "{original:?}");
    let (status, ended_at) = (&runtime.status, time(&removal["updated_at"]));
    assert_eq!(status.created_at, time(&operations[0]["created_at"]));
    assert_eq!((status.modified_at, status.deleted_at), (ended_at, Some(ended_at)));
    assert_eq!(status.expired_at, None);
    check_all_operations(original, runtime);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_runtimes_tell_what_the_rows_of_the_original_say() {
    let (from, all) = database(instances()).await;
    for world in World::both().await {
        let dry = world.import(&from, Mode::DryRun).await;
        assert!(world.runtimes("all").await.is_empty(), "a dry run writes nothing");
        let measure = Measure::begin();
        let report = world.import(&from, Mode::Apply).await;
        measure.tell(all.len());

        assert_eq!(dry, report);
        let counted = |situation| all.iter().filter(|it| it.situation == situation).count() as u64;
        let (removed, running) = (counted(Situation::Removed), counted(Situation::BeingMade));
        let instances = report.counts["instances"];
        assert_eq!(instances.found, all.len() as u64 - removed);
        assert_eq!((instances.taken, instances.left_out), (instances.found - running, running));
        assert_eq!(report.counts["removed instances"].taken, removed);
        let runtimes = world.runtimes("all").await;
        let mut by_id: BTreeMap<_, _> =
            runtimes.into_iter().map(|runtime| (runtime.instance_id.clone(), runtime)).collect();
        for original in all.iter().filter(|it| it.situation.word().is_some()) {
            check(original, &by_id.remove(original.id()).unwrap());
        }
        assert!(by_id.is_empty(), "{by_id:?}");
        let gone = world.runtimes("deprovisioned").await.into_iter();
        let gone = gone.filter(|it| it.status.state == "deprovisioned");
        let mut gone: BTreeMap<_, _> = gone.map(|it| (it.instance_id.clone(), it)).collect();
        for original in all.iter().filter(|it| it.situation == Situation::Removed) {
            check_removed(original, &gone.remove(original.id()).unwrap());
        }
        assert!(gone.is_empty(), "{gone:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_order_is_the_cluster_as_it_was_built_with_its_secrets() {
    let (from, all) = database(PLANS.len() * 3).await;
    let aws = all.iter().find(|it| it.plan == "aws" && it.situation == Situation::Updated).unwrap();
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;

        let row = world.store.find(aws.id()).await.unwrap().unwrap();
        let order: Order = serde_json::from_slice(&row.order).unwrap();
        let cluster = order.resolved.cluster.unwrap();
        assert_eq!((cluster.machine_type.as_str(), cluster.auto_scaler_min), ("m9.metal", 2));
        assert_eq!(cluster.auto_scaler_max, 9, "what the order says counts most");
        assert_eq!(cluster.zones[0].name, "eu-central-1c");
        assert_eq!(cluster.oidc.client_id, "theirs");
        let credentials = order.context.sm_operator_credentials.unwrap();
        assert_eq!(
            (&*credentials.clientid, credentials.clientsecret.expose()),
            ("client", "hush-hush")
        );
        let details: Details = serde_json::from_slice(&row.details).unwrap();
        assert_eq!(details.target_secret.as_deref(), Some("account-secret"));
        assert_eq!(details.cluster_configuration_version, Some(3));
        let runtime = row.runtime_id.unwrap();
        let setup = world.store.latest_runtime_state(runtime, Some("cluster-setup")).await.unwrap();
        let setup: Value = serde_json::from_slice(&setup.unwrap().payload).unwrap();
        assert_eq!(setup["kymaConfig"]["administrators"], json!([]));
        let shown = world.runtimes("succeeded").await;
        let shown = shown.iter().find(|it| it.instance_id == aws.id()).unwrap();
        assert_eq!(shown.cluster_config.as_ref().unwrap()["autoScalerMax"], 7);
        assert_eq!(shown.kyma_config.as_ref().unwrap()["version"], "2.10.0");
        let own = all.iter().find(|it| it.plan == "own_cluster").unwrap();
        let row = world.store.find(own.id()).await.unwrap().unwrap();
        let order: Order = serde_json::from_slice(&row.order).unwrap();
        assert!(order.parameters.kubeconfig.unwrap().expose().starts_with("apiVersion"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_was_canceled_or_only_tried_out_says_nothing_about_the_version_of_kyma() {
    let upgraded = |state: &str, description: &str, dry_run: bool| {
        let mut original = Original::number(PLANS.len() * 5 + 2);
        assert_eq!((original.situation, original.plan), (Situation::Upgraded, "aws"));
        let upgrade = &mut original.operations[1];
        upgrade["state"] = json!(state);
        upgrade["description"] = json!(description);
        upgrade["data"]["runtime_operation"]["dryRun"] = json!(dry_run);
        upgrade["data"]["runtime_version"]["version"] = json!("2.11.0");
        original
    };
    let table = [
        (upgraded("succeeded", "Cluster configuration ready", false), "2.11.0", 1),
        (upgraded("failed", "timeout", false), "2.11.0", 1),
        (upgraded("canceled", "Operation was canceled", false), "2.10.0", 1),
        (upgraded("succeeded", DRY_RUN, true), "2.10.0", 0),
    ];
    for (mut original, version, told) in table {
        // The version of the upgrade of the cluster, which is a dry run, is not told by the page.
        original.operations[2]["data"]["runtime_version"]["version"] = json!("2.12.0");
        let (from, _) = database(0).await;
        fill(&from, std::slice::from_ref(&original)).await;
        for world in World::both().await {
            world.import(&from, Mode::Apply).await;

            let shown = &world.runtimes("all").await[0];
            assert_eq!(shown.kyma_version.as_deref(), Some(version), "{original:?}");
            assert_eq!(shown.status.upgrading_kyma.total_count, told, "{original:?}");
            assert_eq!(shown.status.upgrading_cluster.total_count, 0, "{original:?}");
            let row = world.store.find(original.id()).await.unwrap().unwrap();
            let details: Details = serde_json::from_slice(&row.details).unwrap();
            assert_eq!(details.runtime_version.unwrap().version, version, "{original:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_of_an_imported_operation_says_where_it_comes_from() {
    let (from, all) = database(1).await;
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;

        let id = all[0].operations[0]["id"].as_str().unwrap().parse().unwrap();
        let journal = engine::Storage::journal(world.store.engine(), id).await.unwrap();
        assert_eq!(journal.len(), 1);
        let reason = journal[0].reason.clone().unwrap();
        assert!(reason.starts_with("imported from the original broker"), "{reason}");
        let runtimes = world.runtimes("all").await;
        let item: &OperationItem = runtimes[0].status.provisioning.as_ref().unwrap();
        assert_eq!(item.finished_stages, ["start", "create_runtime"]);
    }
}
