//! Rows as the original broker writes them: every plan, in every situation.

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use store::testing::originals::{OriginalDatabase, encrypted};
use uuid::Uuid;

pub(crate) const KEY: &str = "a key of the original, 32 bytes.";
pub(crate) const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";

/// How an upgrade ends that only tried things out.
pub(crate) const DRY_RUN: &str = "dry run succeeded";

/// Name, id, platform's region, provider by its label, region.
pub(crate) const PLANS: [(&str, &str, &str, &str, &str); 9] = [
    ("azure", "4deee563-e5ec-4731-b9b1-53b42d855f0c", "cf-eu20", "Azure", "westeurope"),
    ("azure_lite", "8cb22518-aa26-44c5-91a0-e669ec9bf443", "cf-eu20", "Azure", "westeurope"),
    ("aws", "361c511f-f939-4621-b228-d0fb79a1fe15", "cf-eu10", "AWS", "eu-central-1"),
    ("gcp", "ca6e5357-707f-4565-bbbd-b3ab732597c6", "cf-eu30", "GCP", "europe-west3"),
    ("openstack", "03b812ac-c991-4528-b5bd-08b303523a63", "cf-eu10", "OpenStack", "eu-de-1"),
    ("trial", "7d55d31d-35ae-4438-bf13-6ffdfa107d9f", "cf-eu10", "AWS", "eu-central-1"),
    ("free", "b1a5764e-2ea1-4f95-94c0-2b4538b37b55", "cf-eu10", "AWS", "eu-central-1"),
    ("own_cluster", "03e3cb66-a4c6-4c6a-b4b0-5d42224debea", "cf-eu10", "custom", "custom"),
    ("preview", "5cb3d976-b85c-42ea-a636-79cadda109a9", "cf-eu10", "AWS", "eu-central-1"),
];

/// The situation of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Situation {
    Made,
    NotMade,
    Updated,
    UpdateFailed,
    Suspended,
    Upgraded,
    RemovalFailed,
    LeftOver,
    Removed,
    BeingRemoved,
    BeingMade,
    UpgradePlanned,
    Expired,
    Moved,
}

impl Situation {
    pub(crate) const ALL: [Self; 14] = [
        Self::Made,
        Self::NotMade,
        Self::Updated,
        Self::UpdateFailed,
        Self::Suspended,
        Self::Upgraded,
        Self::RemovalFailed,
        Self::LeftOver,
        Self::Removed,
        Self::BeingRemoved,
        Self::BeingMade,
        Self::UpgradePlanned,
        Self::Expired,
        Self::Moved,
    ];

    /// Type, state, description and whether it is temporary, of each operation.
    fn operations(self) -> Vec<(&'static str, &'static str, &'static str, bool)> {
        let done = "Processing finished";
        let made = ("provision", "succeeded", done, false);
        match self {
            Self::Made => vec![made],
            Self::NotMade => vec![("provision", "failed", "cannot create AVS evaluation", false)],
            Self::Updated | Self::Moved => vec![made, ("update", "succeeded", done, false)],
            Self::UpdateFailed => {
                vec![made, ("update", "failed", "failed to get components", false)]
            }
            Self::Suspended | Self::Expired => {
                vec![made, ("deprovision", "succeeded", done, true)]
            }
            Self::Upgraded => vec![
                made,
                ("upgradeKyma", "succeeded", "Cluster configuration ready", false),
                ("upgradeCluster", "succeeded", DRY_RUN, false),
            ],
            Self::RemovalFailed => vec![made, ("deprovision", "failed", "timeout", false)],
            Self::LeftOver | Self::Removed => vec![made, ("deprovision", "succeeded", done, false)],
            Self::BeingRemoved => vec![made, ("deprovision", "in progress", "waiting", false)],
            Self::BeingMade => vec![("provision", "in progress", "waiting", false)],
            Self::UpgradePlanned => {
                vec![made, ("upgradeCluster", "pending", "Operation created", false)]
            }
        }
    }

    /// The word for it on a page of runtimes; none when it is on no page.
    pub(crate) fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::Made | Self::Updated | Self::Moved | Self::Upgraded | Self::UpgradePlanned => {
                "succeeded"
            }
            Self::NotMade | Self::RemovalFailed | Self::BeingRemoved => "failed",
            Self::UpdateFailed => "error",
            Self::Suspended | Self::Expired => "suspended",
            Self::LeftOver => "deprovisionincomplete",
            Self::Removed | Self::BeingMade => return None,
        })
    }
}

/// One instance of the original, with its rows.
#[derive(Debug, Clone)]
pub(crate) struct Original {
    pub(crate) situation: Situation,
    pub(crate) plan: &'static str,
    pub(crate) instance: Value,
    pub(crate) operations: Vec<Value>,
    states: Vec<Value>,
}

impl Original {
    /// The instance of this number: its plan and situation follow from it.
    pub(crate) fn number(number: usize) -> Self {
        let (plan, plan_id, platform, provider, region) = PLANS[number % PLANS.len()];
        let situation = Situation::ALL[number / PLANS.len() % Situation::ALL.len()];
        let (orchestration, runtime) = (id(number, 4), id(number, 2));
        let id = id(number, 1);
        let created = start() + i64::try_from(number).unwrap().minutes();
        let parameters = parameters(number, plan, plan_id, platform);
        let operation = |at: usize, (kind, state, description, temporary)| {
            let created = created + i64::try_from(at).unwrap().seconds();
            let mut data =
                data(number, &runtime, (kind, temporary), situation == Situation::LeftOver);
            if kind.starts_with("upgrade") {
                data["runtime_operation"] =
                    json!({"runtimeId": runtime, "dryRun": description == DRY_RUN});
            }
            json!({
                "id": id_of_operation(number, at), "instance_id": id, "target_operation_id": "",
                "state": state, "description": description, "type": kind, "data": data,
                "created_at": created.to_string(), "updated_at": (created + 9.seconds()).to_string(),
                "orchestration_id": if kind.starts_with("upgrade") { orchestration.clone() } else { String::new() },
                "provisioning_parameters": parameters,
                "finished_stages": if kind == "provision" { json!("start,create_runtime") } else { Value::Null },
            })
        };
        let operations: Vec<Value> = situation
            .operations()
            .into_iter()
            .enumerate()
            .map(|(at, kind)| operation(at, kind))
            .collect();
        let deleted = if situation == Situation::LeftOver {
            "2026-01-02T00:00:00Z"
        } else {
            "0001-01-01T00:00:00Z"
        };
        let asleep = matches!(situation, Situation::Suspended | Situation::Expired);
        let expired = (situation == Situation::Expired).then_some("2026-01-03T00:00:00.25Z");
        // The account that pays is the one that ordered it.
        let ordered_by = format!("account-{}", number % 7);
        let (account, payer) = match situation {
            Situation::Moved => ("account-moved".to_owned(), ordered_by),
            _ => (ordered_by, String::new()),
        };
        let instance = json!({
            "instance_id": id, "runtime_id": if asleep { "" } else { runtime.as_str() },
            "global_account_id": account, "sub_account_id": format!("subaccount-{number}"),
            "service_id": SERVICE, "service_plan_id": plan_id, "service_plan_name": plan,
            "dashboard_url": format!("https://dashboard.test/?kubeconfigID={id}"),
            "provisioning_parameters": parameters.to_string(), "created_at": created.to_string(),
            "updated_at": created.to_string(), "deleted_at": deleted, "provider_region": region,
            "provider": provider, "subscription_global_account_id": payer, "expired_at": expired,
        });
        let states = states(number, &runtime, provider, region);
        Self { situation, plan, instance, operations, states }
    }

    pub(crate) fn id(&self) -> &str {
        self.instance["instance_id"].as_str().unwrap()
    }
}

fn start() -> Timestamp {
    "2026-01-01T00:00:00.123456Z".parse().unwrap()
}

/// The version of Kyma that the operations of an instance were about.
fn version_of_kyma(number: usize) -> String {
    format!("2.{}.0", 8 + number % 3)
}

fn id(number: usize, sort: u128) -> String {
    Uuid::from_u128((number as u128 + 1) << 32 | sort).to_string()
}

pub(crate) fn id_of_operation(number: usize, at: usize) -> String {
    id(number, 0x100 + at as u128)
}

fn parameters(number: usize, plan: &str, plan_id: &str, platform: &str) -> Value {
    let mut ordered = json!({"name": format!("runtime-{number}"), "autoScalerMax": 9});
    if plan == "own_cluster" {
        let kubeconfig = encrypted(KEY, "apiVersion: v1\nkind: Config\n");
        ordered = json!({"name": "own", "kubeconfig": kubeconfig, "shootName": "theirs", "shootDomain": "theirs.test"});
    }
    json!({
        "plan_id": plan_id, "service_id": SERVICE,
        "ers_context": {
            "subaccount_id": format!("subaccount-{number}"), "globalaccount_id": format!("account-{}", number % 7),
            "sm_operator_credentials": {
                "clientid": encrypted(KEY, "client"), "clientsecret": encrypted(KEY, "hush-hush"),
                "sm_url": "https://sm.test", "url": "https://auth.test", "xsappname": "xs",
            },
            "user_id": format!("user-{number}@example.test"),
        },
        "parameters": ordered, "platform_region": platform,
        "platform_provider": match platform { "cf-eu20" => "Azure", "cf-eu30" => "GCP", _ => "AWS" },
    })
}

fn data(number: usize, runtime: &str, (kind, temporary): (&str, bool), left: bool) -> Value {
    let incomplete = (left && kind == "deprovision").then(|| json!(["EDP_Deregistration"]));
    json!({
        "avs": {"avs_evaluation_internal_id": 900 + number, "avs_evaluation_external_id": 0},
        "runtime_id": runtime, "shoot_name": format!("c-{number:06}"),
        "shoot_domain": format!("c-{number:06}.kyma.test"), "clusterName": format!("runtime-{number}-abcde"),
        "edp_created": true, "cluster_configuration_version": 3, "sm_cluster_id": id(number, 3),
        "kyma_resource_namespace": "kcp-system", "kyma_resource_name": runtime, "eu_access": false,
        "runtime_version": {"version": version_of_kyma(number), "origin": "defaults", "major_version": 2},
        "temporary": temporary, "excutedButNotCompleted": incomplete,
        "updating_parameters": {"expired": false, "autoScalerMax": 9}, "of_tomorrow": {"unknown": true},
    })
}

/// What was sent for the cluster: all of it, then for the Reconciler, then a change.
fn states(number: usize, runtime: &str, provider: &str, region: &str) -> Vec<Value> {
    let zones = match provider {
        "AWS" => json!({"awsConfig": {"vpcCidr": "10.180.0.0/16", "awsZones": [
            {"name": format!("{region}c"), "publicCidr": "10.180.32.0/20", "workerCidr": "10.180.0.0/19", "internalCidr": "10.180.48.0/20"}]}}),
        "Azure" => {
            json!({"azureConfig": {"vnetCidr": "10.250.0.0/16", "zones": null, "azureZones": [{"name": 2, "cidr": "10.250.0.0/19"}]}})
        }
        "GCP" => json!({"gcpConfig": {"zones": [format!("{region}-b")]}}),
        "OpenStack" => {
            json!({"openStackConfig": {"zones": [format!("{region}a")], "floatingPoolName": "f", "cloudProfileName": "c", "loadBalancerProvider": "f5"}})
        }
        _ => return Vec::new(),
    };
    let whole = json!({
        "name": format!("c-{number:06}"), "kubernetesVersion": "1.25.4", "provider": provider.to_lowercase(),
        "targetSecret": "account-secret", "region": region, "machineType": "m9.metal", "workerCidr": "10.180.0.0/16",
        "autoScalerMin": 2, "autoScalerMax": 5, "maxSurge": 1, "maxUnavailable": 0, "providerSpecificConfig": zones,
        "oidcConfig": {"clientID": "theirs", "issuerURL": "https://issuer.test", "groupsClaim": "groups",
            "signingAlgs": ["RS256"], "usernameClaim": "sub", "usernamePrefix": "-"},
    });
    let part = json!({"name": "", "region": "", "machineType": "", "autoScalerMin": 0, "autoScalerMax": 7});
    let setup = json!({
        "runtimeID": runtime, "runtimeInput": {"name": "n", "description": ""},
        "kymaConfig": {"version": "2.10.0", "profile": "Production", "administrators": null, "components": [
            {"component": "istio", "namespace": "istio-system", "URL": "", "version": "", "configuration": null}]},
        "metadata": {"globalAccountID": "a", "subAccountID": "s", "serviceID": SERVICE, "servicePlanID": "p",
            "servicePlanName": "aws", "shootName": "c", "instanceID": "i", "region": region},
        "kubeconfig": "apiVersion: v1",
    });
    let state = |sort: u128, operation: usize, config: &Value, setup: String| {
        json!({
            "id": id(number, 0x10 + sort), "runtime_id": runtime, "operation_id": id_of_operation(number, operation),
            "created_at": (start() + i64::try_from(sort).unwrap().seconds()).to_string(),
            "kyma_config": encrypted(KEY, "{}"), "cluster_config": config.to_string(), "kyma_version": "2.10.0",
            "k8s_version": "", "cluster_setup": setup,
        })
    };
    vec![
        state(0, 0, &whole, String::new()),
        state(1, 0, &json!({"name": "", "region": ""}), encrypted(KEY, &setup.to_string())),
        state(2, 1, &part, String::new()),
    ]
}

/// A database with so many instances.
pub(crate) async fn database(instances: usize) -> (OriginalDatabase, Vec<Original>) {
    let database = OriginalDatabase::keb().await;
    let all: Vec<Original> = (0..instances).map(Original::number).collect();
    fill(&database, &all).await;
    (database, all)
}

/// Adds instances with all of their rows.
pub(crate) async fn fill(database: &OriginalDatabase, all: &[Original]) {
    let with_rows = all.iter().filter(|it| it.situation != Situation::Removed);
    let instances: Vec<Value> = with_rows.map(|it| it.instance.clone()).collect();
    database.insert("instances", &instances).await;
    let operations: Vec<Value> = all.iter().flat_map(|it| it.operations.clone()).collect();
    database.insert("operations", &operations).await;
    let states: Vec<Value> = all.iter().flat_map(|it| it.states.clone()).collect();
    database.insert("runtime_states", &states).await;
}
