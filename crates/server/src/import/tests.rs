//! `kcp import` into the databases that settings name: dry, for real, and again.

use std::path::Path;

use serde_json::json;
use store::testing::originals::{OriginalDatabase, encrypted};

use super::*;
use crate::settings;

const ORIGINAL_KEY: &str = "a key of the original, 32 bytes.";
const ID: &str = "00000001-0000-4000-8000-000000000001";
const RUNTIME: &str = "00000002-0000-4000-8000-000000000002";
const OPERATION: &str = "00000003-0000-4000-8000-000000000003";
const CONFIG: &str = "00000004-0000-4000-8000-000000000004";
const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
const AWS: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";

/// The broker's database of an original, with one instance.
async fn original_broker() -> OriginalDatabase {
    let database = OriginalDatabase::keb().await;
    let parameters = json!({
        "plan_id": AWS, "service_id": SERVICE, "platform_region": "cf-eu10", "platform_provider": "AWS",
        "ers_context": {
            "subaccount_id": "subaccount", "globalaccount_id": "account", "user_id": "jo@example.test",
            "sm_operator_credentials": {
                "clientid": encrypted(ORIGINAL_KEY, "client"), "clientsecret": encrypted(ORIGINAL_KEY, "hush"),
                "sm_url": "https://sm.test", "url": "https://auth.test", "xsappname": "xs",
            },
        },
        "parameters": {"name": "imported"},
    });
    let instance = json!({
        "instance_id": ID, "runtime_id": RUNTIME, "global_account_id": "account", "sub_account_id": "subaccount",
        "service_id": SERVICE, "service_plan_id": AWS, "service_plan_name": "aws",
        "dashboard_url": "https://dashboard.test", "provisioning_parameters": parameters.to_string(),
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        "deleted_at": "0001-01-01T00:00:00Z", "provider_region": "eu-central-1", "provider": "AWS",
    });
    let operation = json!({
        "id": OPERATION, "instance_id": ID, "state": "succeeded", "description": "Processing finished",
        "type": "provision", "data": {"runtime_id": RUNTIME, "shoot_name": "c-1", "shoot_domain": "c-1.kyma.test"},
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:09Z",
        "provisioning_parameters": parameters,
    });
    database.insert("instances", &[instance]).await;
    database.insert("operations", &[operation]).await;
    database
}

/// The provisioner's database of an original, with one runtime.
async fn original_provisioner(project: &str) -> OriginalDatabase {
    let database = OriginalDatabase::provisioner().await;
    let cluster = json!({
        "id": RUNTIME, "tenant": "account", "sub_account_id": "subaccount", "deleted": false,
        "creation_timestamp": "2026-01-01T00:00:00", "is_kubeconfig_encrypted": false,
    });
    let gardener = json!({
        "id": CONFIG, "cluster_id": RUNTIME, "name": "c-1", "project_name": project, "kubernetes_version": "1.25.4",
        "volume_size_gb": "80", "machine_type": "n2-standard-4", "region": "europe-west3", "provider": "gcp",
        "seed": "", "target_secret": "secret", "worker_cidr": "10.0.0.0/16", "auto_scaler_min": 2,
        "auto_scaler_max": 4, "max_surge": 1, "max_unavailable": 0, "enable_kubernetes_version_auto_update": false,
        "enable_machine_image_version_auto_update": false, "allow_privileged_containers": false,
        "provider_specific_config": {"zones": ["europe-west3-a"]}, "eu_access": false,
    });
    let operation = json!({
        "id": OPERATION, "type": "PROVISION_NO_INSTALL", "state": "SUCCEEDED", "message": "done",
        "start_timestamp": "2026-01-01T00:00:00", "end_timestamp": "2026-01-01T00:10:00", "cluster_id": RUNTIME,
        "stage": "Finished",
    });
    database.insert("cluster", &[cluster]).await;
    database.insert("gardener_config", &[gardener]).await;
    database.insert("operation", &[operation]).await;
    database
}

/// The file with settings of a service whose database and keys are in this folder.
fn settings_in(folder: &Path) -> PathBuf {
    let (keys, database) = (folder.join("service.key"), folder.join("service.db"));
    crate::keys::read_or_make(&keys).unwrap();
    let text = format!(
        "[database]\nurl = \"sqlite://{}\"\nsealing_keys = \"{}\"\n",
        database.display(),
        keys.display()
    );
    let file = folder.join("service.toml");
    fs::write(&file, text).unwrap();
    file
}

fn source(folder: &Path, database: &OriginalDatabase, mode: Mode) -> Source {
    let key_file = folder.join("original.key");
    fs::write(&key_file, format!("{ORIGINAL_KEY}\n")).unwrap();
    let database = database.url().to_owned().into();
    Source { database, key_file: Some(key_file), mode, unfinished: false }
}

/// Found, taken over, here before and left out.
fn numbers(report: &Report, sort: &str) -> [u64; 4] {
    let count = report.counts[sort];
    [count.found, count.taken, count.present, count.left_out]
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_are_taken_over_once_and_not_in_a_dry_run() {
    let (folder, original) = (tempfile::tempdir().unwrap(), original_broker().await);
    let settings = settings::load(Some(&settings_in(folder.path()))).unwrap();
    let run = async |mode: Mode| {
        let source = source(folder.path(), &original, mode);
        numbers(&Box::pin(keb(&settings, &source)).await.unwrap(), "instances")
    };

    for (mode, expected) in [
        (Mode::DryRun, [1, 1, 0, 0]),
        (Mode::DryRun, [1, 1, 0, 0]),
        (Mode::Apply, [1, 1, 0, 0]),
        (Mode::DryRun, [1, 0, 1, 0]),
        (Mode::Apply, [1, 0, 1, 0]),
    ] {
        assert_eq!(run(mode).await, expected, "{mode:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runtimes_are_taken_over_once_and_not_in_a_dry_run() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings::provisioner::load(Some(&settings_in(folder.path()))).unwrap();
    let original = original_provisioner(&settings.gardener.project).await;
    let run = async |mode: Mode| {
        let source = source(folder.path(), &original, mode);
        numbers(&Box::pin(provisioner(&settings, &source)).await.unwrap(), "runtimes")
    };

    for (mode, expected) in [
        (Mode::DryRun, [1, 1, 0, 0]),
        (Mode::DryRun, [1, 1, 0, 0]),
        (Mode::Apply, [1, 1, 0, 0]),
        (Mode::DryRun, [1, 0, 1, 0]),
        (Mode::Apply, [1, 0, 1, 0]),
    ] {
        assert_eq!(run(mode).await, expected, "{mode:?}");
    }
}
