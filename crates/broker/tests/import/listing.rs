//! What pages of runtimes tell after an import is what the original's rows say.

use std::{collections::BTreeMap, time::Instant};

use broker::{Details, Order, runtimes::OperationItem};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::import::Mode;

use crate::{
    original::{Original, PLANS, Situation, database},
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

fn check(original: &Original, runtime: &broker::runtimes::Runtime) {
    let row = &original.instance;
    let shown = serde_json::to_value(runtime).unwrap();
    for (ours, theirs) in [
        ("instanceID", "instance_id"),
        ("runtimeID", "runtime_id"),
        ("globalAccountID", "global_account_id"),
        ("subAccountID", "sub_account_id"),
        ("region", "provider_region"),
        ("provider", "provider"),
        ("serviceClassID", "service_id"),
        ("servicePlanID", "service_plan_id"),
        ("servicePlanName", "service_plan_name"),
    ] {
        assert_eq!(shown[ours], row[theirs], "{ours} of {original:?}");
    }
    let newest = &original.operations.last().unwrap();
    assert_eq!(shown["shootName"], newest["data"]["shoot_name"]);
    let parameters = &newest["provisioning_parameters"];
    assert_eq!(shown["userID"], parameters["ers_context"]["user_id"]);
    assert_eq!(shown["subAccountRegion"], parameters["platform_region"]);
    assert_eq!(shown["parameters"]["name"], parameters["parameters"]["name"]);
    assert_eq!(shown["parameters"].get("kubeconfig"), None);
    assert_eq!(runtime.status.created_at, time(&row["created_at"]));
    assert_eq!(Some(runtime.status.state), original.situation.word(), "{original:?}");
    assert_eq!(
        shown["avsInternalEvaluationID"],
        newest["data"]["avs"]["avs_evaluation_internal_id"]
    );
    let told = told(&shown);
    assert_eq!(told.len(), original.operations.len(), "{shown:#}");
    for operation in &original.operations {
        let item = &told[operation["id"].as_str().unwrap()];
        assert_eq!(time(&item["createdAt"]), time(&operation["created_at"]));
        assert_eq!(time(&item["updatedAt"]), time(&operation["updated_at"]));
        if ["succeeded", "failed"].contains(&operation["state"].as_str().unwrap()) {
            assert_eq!(item["state"], operation["state"]);
            assert_eq!(item["description"], operation["description"]);
        }
        let orchestration = operation["orchestration_id"].as_str().filter(|id| !id.is_empty());
        assert_eq!(item["orchestrationID"].as_str(), orchestration);
    }
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
        let gone = world.runtimes("deprovisioned").await;
        let gone = gone.iter().filter(|it| it.status.state == "deprovisioned");
        assert_eq!(gone.count() as u64, removed);
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
