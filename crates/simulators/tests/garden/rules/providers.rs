//! What the extensions of the providers refuse: one thing of a good Shoot of each provider is changed, and the field is
//! the one that the real validator names. The same in all versions of Gardener.

use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use super::table::set;
use crate::support::{Garden, refusal, shoot, whole};

const INFRASTRUCTURE: &str = "/spec/provider/infrastructureConfig";
const CONTROL_PLANE: &str = "/spec/provider/controlPlaneConfig";
const POOL: &str = "/spec/provider/workers/0";

/// The changed field, the new value, and a part of the refusal; none if the change is accepted.
type Case = (&'static str, &'static str, Value, &'static str);

/// A Shoot of a provider as our provisioner writes it.
fn of(provider: &str, name: &str) -> Value {
    let mut made = whole(&shoot(name));
    let spec = &mut made["spec"];
    let (profile, region, zones, machine, volume) = match provider {
        "aws" => return made,
        "azure" => ("az", "westeurope", json!(["1"]), "Standard_D4s_v5", "Standard_LRS"),
        "gcp" => ("gcp", "europe-west3", json!(["europe-west3-a"]), "n2-standard-4", "pd-balanced"),
        _ => ("converged-cloud-kyma", "eu-de-1", json!(["eu-de-1a"]), "g_c4_m16", ""),
    };
    spec["cloudProfileName"] = json!(profile);
    spec["region"] = json!(region);
    spec["secretBindingName"] = json!(format!("{provider}-free-1"));
    let config = |kind: &str| json!({"kind": kind, "apiVersion": format!("{provider}.provider.extensions.gardener.cloud/v1alpha1")});
    let (mut infrastructure, mut control) =
        (config("InfrastructureConfig"), config("ControlPlaneConfig"));
    match provider {
        "azure" => {
            infrastructure["zoned"] = json!(true);
            infrastructure["networks"] =
                json!({"vnet": {"cidr": "10.250.0.0/16"}, "workers": "10.250.0.0/19"});
        }
        "gcp" => {
            infrastructure["networks"] =
                json!({"worker": "10.250.0.0/19", "workers": "10.250.0.0/19"});
            control["zone"] = json!("europe-west3-a");
        }
        _ => {
            infrastructure["floatingPoolName"] = json!("FloatingIP-external-cp");
            infrastructure["networks"] = json!({"worker": "", "workers": "10.250.0.0/19"});
            control["loadBalancerProvider"] = json!("f5");
        }
    }
    let pool = &mut spec["provider"]["workers"][0];
    pool["machine"] = json!({"type": machine});
    pool["zones"] = zones;
    match volume {
        "" => drop(pool.as_object_mut().unwrap().shift_remove("volume")),
        volume => pool["volume"]["type"] = json!(volume),
    }
    spec["provider"]["type"] = json!(provider);
    spec["provider"]["infrastructureConfig"] = infrastructure;
    spec["provider"]["controlPlaneConfig"] = control;
    made
}

/// Changes that all of them refuse.
fn common() -> Vec<Case> {
    vec![
        ("", "/spec/purpose", json!("testing"), ""),
        ("", INFRASTRUCTURE, Value::Null, "spec.provider.infrastructureConfig: Required value"),
        (
            INFRASTRUCTURE,
            "/kind",
            json!("Foo"),
            "spec.provider.infrastructureConfig: Invalid value",
        ),
        (INFRASTRUCTURE, "/apiVersion", json!("v1"), "spec.provider.infrastructureConfig: Invalid"),
        (INFRASTRUCTURE, "/networks/foo", json!(1), "isn't a supported version"),
        (
            INFRASTRUCTURE,
            "/networks",
            json!("x"),
            "spec.provider.infrastructureConfig: Invalid value",
        ),
        (CONTROL_PLANE, "/foo", json!(1), "spec.provider.controlPlaneConfig: Invalid value"),
        ("", "/spec/networking/nodes", Value::Null, "spec.networking.nodes: Required value"),
        (POOL, "/zones", Value::Null, "spec.provider.workers[0].zones: Required value"),
    ]
}

fn cases(provider: &str) -> Vec<Case> {
    let volume = (POOL, "/volume", Value::Null, "spec.provider.workers[0].volume: Required value");
    let kind =
        (POOL, "/volume/type", Value::Null, "spec.provider.workers[0].volume.type: Required value");
    let zone = |name: Value| json!([{"name": name, "cidr": "10.250.0.0/19"}]);
    match provider {
        "aws" => vec![
            volume,
            kind,
            (
                POOL,
                "/volume/type",
                json!("io1"),
                "spec.provider.workers[0].providerConfig: Required",
            ),
            (
                POOL,
                "/zones",
                json!(["eu-central-1b"]),
                "spec.provider.workers[0].zones[0]: Invalid",
            ),
            (INFRASTRUCTURE, "/networks/zones", json!([]), "networks.zones: Required value"),
            (INFRASTRUCTURE, "/networks/zones/0/name", json!("nope"), "zones[0].name: Unsupported"),
            (INFRASTRUCTURE, "/networks/vpc", json!({}), "networks.vpc: Invalid value"),
            (
                INFRASTRUCTURE,
                "/networks/vpc/id",
                json!("vpc-1"),
                "cannot specify both vpc id and cidr",
            ),
            ("", CONTROL_PLANE, Value::Null, ""),
        ],
        "azure" => vec![
            volume,
            kind,
            (INFRASTRUCTURE, "/zoned", json!(false), "zones must not be specified for non zoned"),
            (INFRASTRUCTURE, "/networks/workers", Value::Null, "networks.workers: Forbidden"),
            (INFRASTRUCTURE, "/networks/zones", zone(json!(1)), "cannot be specified in parallel"),
            (INFRASTRUCTURE, "/networks/zones", zone(json!("1")), "isn't a supported version"),
            (
                INFRASTRUCTURE,
                "/resourceGroup",
                json!({"name": "x"}),
                "resourceGroup: Invalid value",
            ),
            ("", CONTROL_PLANE, Value::Null, ""),
        ],
        "gcp" => vec![
            volume,
            kind,
            ("", CONTROL_PLANE, Value::Null, "spec.provider.controlPlaneConfig: Required value"),
            (INFRASTRUCTURE, "/networks", json!({}), "networks.workers: Required value"),
            (INFRASTRUCTURE, "/networks/internal", json!("10.250.0.0/20"), "must not overlap with"),
            (CONTROL_PLANE, "/zone", Value::Null, "controlPlaneConfig.zone: Required value"),
            (CONTROL_PLANE, "/zone", json!("nope"), "controlPlaneConfig.zone: Unsupported value"),
            (
                CONTROL_PLANE,
                "/zone",
                json!("europe-west3-b"),
                "must be part of at least one worker zone",
            ),
        ],
        _ => vec![
            ("", CONTROL_PLANE, Value::Null, "spec.provider.controlPlaneConfig: Required value"),
            (INFRASTRUCTURE, "/networks", json!({}), "networks.workers: Required value"),
            (
                INFRASTRUCTURE,
                "/floatingPoolName",
                json!("x"),
                "floatingPoolName: Unsupported value",
            ),
            (
                CONTROL_PLANE,
                "/loadBalancerProvider",
                json!("x"),
                "loadBalancerProvider: Unsupported",
            ),
        ],
    }
}

/// Changes of a Shoot that is there.
fn changes(provider: &str) -> Vec<Case> {
    let more =
        |zone: &str| (POOL, "/zones", json!([zone]), "spec.provider.workers[0].zones: Invalid");
    match provider {
        "aws" => vec![
            (
                INFRASTRUCTURE,
                "/networks/vpc/cidr",
                json!("10.0.0.0/8"),
                "networks.vpc.cidr: Invalid",
            ),
            (
                INFRASTRUCTURE,
                "/networks/zones/0/public",
                json!("10.250.96.0/20"),
                "zones[0].public",
            ),
        ],
        "azure" => vec![
            more("2"),
            (POOL, "/zones", json!(["1", "2"]), ""),
            (INFRASTRUCTURE, "/zoned", json!(false), "infrastructureConfig.zoned: Invalid value"),
            (
                INFRASTRUCTURE,
                "/networks/workers",
                json!("10.250.0.0/18"),
                "networks.workers: Invalid",
            ),
            (INFRASTRUCTURE, "/networks/vnet/cidr", json!("10.250.0.0/18"), "can only be expanded"),
            (INFRASTRUCTURE, "/networks/vnet/cidr", json!("10.0.0.0/8"), ""),
        ],
        "gcp" => vec![
            (
                CONTROL_PLANE,
                "/zone",
                json!("europe-west3-b"),
                "controlPlaneConfig.zone: Invalid value",
            ),
            (INFRASTRUCTURE, "/networks/worker", Value::Null, ""),
            (INFRASTRUCTURE, "/networks/workers", json!("10.250.0.0/20"), "can only be expanded"),
            (INFRASTRUCTURE, "/networks/workers", json!("10.250.0.0/18"), ""),
            (POOL, "/zones", json!(["europe-west3-a", "europe-west3-b"]), ""),
        ],
        _ => vec![
            more("eu-de-1b"),
            (
                INFRASTRUCTURE,
                "/floatingPoolName",
                json!("FloatingIP-external-x"),
                "floatingPoolName: Invalid",
            ),
            (
                INFRASTRUCTURE,
                "/networks/workers",
                json!("10.250.0.0/18"),
                "networks.workers: Invalid",
            ),
        ],
    }
}

fn changed(mut whole: Value, (place, path, value, _): &Case) -> DynamicObject {
    set(
        &mut whole,
        &format!("{place}{path}"),
        Some(value.clone()).filter(|value| !value.is_null()),
    );
    serde_json::from_value(whole).unwrap()
}

/// Whether an answer is the one that is expected; if not, what it is.
fn judge(
    answer: Result<DynamicObject, kube::Error>,
    provider: &str,
    expected: &str,
) -> Option<String> {
    let answer = match answer {
        Ok(_) => return (!expected.is_empty()).then(|| "accepted".to_owned()),
        refused => refusal(refused),
    };
    let by = format!(
        "admission webhook \"validator.admission-{provider}.extensions.gardener.cloud\" denied the request: "
    );
    let fits = answer.0 == 403 && answer.1.starts_with(&by) && answer.1.contains(expected);
    (expected.is_empty() || !fits).then(|| format!("{answer:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_extension_of_each_provider_refuses_what_it_does_not_understand() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let mut wrong = Vec::new();
        for provider in ["aws", "azure", "gcp", "openstack"] {
            for case in [common(), cases(provider)].concat() {
                let odd = changed(of(provider, "odd"), &case);
                let dry = PostParams { dry_run: true, ..PostParams::default() };
                let answer = garden.shoots.create(&dry, &odd).await;
                let verdict = judge(answer, provider, case.3);
                wrong.extend(verdict.map(|it| format!("{version} {provider} {case:?}: {it}")));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_extension_of_each_provider_keeps_what_cannot_be_changed() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let mut wrong = Vec::new();
        for provider in ["aws", "azure", "gcp", "openstack"] {
            let made =
                garden.create(&serde_json::from_value(of(provider, provider)).unwrap()).await;
            for case in changes(provider) {
                let next = changed(whole(&made), &case);
                let dry = PostParams { dry_run: true, ..PostParams::default() };
                let answer = garden.shoots.replace(provider, &dry, &next).await;
                let verdict = judge(answer, provider, case.3);
                wrong.extend(verdict.map(|it| format!("{version} {provider} {case:?}: {it}")));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn applied_workers_are_merged_by_name_and_owned_field_by_field() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        garden.create(&shoot("applied")).await;
        let by = PatchParams::apply("scaler").force();
        let apply = |workers: Value| {
            let spec = json!({"provider": {"workers": workers}});
            Patch::Apply(json!({
                "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
                "metadata": {"name": "applied"}, "spec": spec,
            }))
        };
        let before = garden.shoots.get("applied").await.unwrap();
        let mut second = before.data["spec"]["provider"]["workers"][0].clone();
        second["name"] = json!("more");

        let workers = json!([{"name": "cpu-worker-0", "maximum": 12}, second]);
        let both = garden.shoots.patch("applied", &by, &apply(workers)).await.unwrap();
        let one = json!([{"name": "cpu-worker-0", "maximum": 12}]);
        let one = garden.shoots.patch("applied", &by, &apply(one)).await.unwrap();

        let workers =
            |of: &DynamicObject| of.data["spec"]["provider"]["workers"].as_array().unwrap().clone();
        assert_eq!(workers(&both).len(), 2);
        assert_eq!(workers(&one).len(), 1, "what nobody applies any more goes");
        assert_eq!(workers(&one)[0]["maximum"], 12);
        assert_eq!(workers(&one)[0]["machine"], workers(&before)[0]["machine"]);
        let managers = one.metadata.managed_fields.unwrap();
        let own = managers.iter().find(|one| one.manager.as_deref() == Some("scaler")).unwrap();
        let fields = serde_json::to_value(own.fields_v1.as_ref().unwrap()).unwrap();
        let item = "k:{\"name\":\"cpu-worker-0\"}";
        let own = &fields["f:spec"]["f:provider"]["f:workers"][item];
        assert_eq!(*own, json!({"f:maximum": {}, "f:name": {}}), "{fields}");
    }
}
