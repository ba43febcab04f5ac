//! What each version of Gardener refuses: one field of a good Shoot is changed, and status and field of the answer are
//! those of the real API server of that version.

mod details;
mod providers;
mod states;
mod updates;

use kube::api::{DynamicObject, PostParams};
use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use crate::support::{Garden, refusal, shoot};

/// Status and a part of the message; 201 for a Shoot that is made.
type Answer = (u16, &'static str);

/// What is changed, to what, and what 1.65 and 1.117 answer.
type Case = (&'static str, Value, Answer, Answer);

const MADE: Answer = (201, "");
const WORKER: &str = "/spec/provider/workers/0";

fn both(path: &'static str, value: Value, answer: Answer) -> Case {
    (path, value, answer, answer)
}

fn references() -> Vec<Case> {
    vec![
        both("/spec/region", json!("nope"), (403, "spec.region: Unsupported value: \"nope\"")),
        both("/spec/region", Value::Null, (403, "workers[0].zones[0]: Invalid value")),
        both("/spec/region", json!(""), (403, "does not support availability zones")),
        both(
            "/spec/cloudProfileName",
            json!("nope"),
            (403, "cloudprofile.core.gardener.cloud \"nope\" not found"),
        ),
        both("/spec/cloudProfileName", json!(""), (500, "could not find referenced cloud profile")),
        both("/spec/seedName", json!("nope"), (403, "seed.core.gardener.cloud \"nope\" not found")),
        both(
            "/spec/exposureClassName",
            json!("nope"),
            (403, "exposureclass.core.gardener.cloud \"nope\" not found"),
        ),
        both(
            "/spec/secretBindingName",
            json!("nope"),
            (403, "secretbinding.core.gardener.cloud \"nope\" not found"),
        ),
        both("/spec/secretBindingName", json!("gcp-free-1"), (403, "spec.provider.type")),
        (
            "/spec/secretBindingName",
            Value::Null,
            (500, "could not find referenced secret binding"),
            (422, "spec.secretBindingName: Required value"),
        ),
        both("/spec/provider/type", Value::Null, (403, "spec.provider.type: Invalid value")),
        both("/spec/provider/type", json!("AWS"), (403, "spec.provider.type")),
        both(
            "/spec/kubernetes/version",
            json!("nope"),
            (403, "spec.kubernetes.version: Unsupported value"),
        ),
        both(
            "/spec/kubernetes/version",
            json!("1.15.3"),
            (403, "spec.kubernetes.version: Unsupported value"),
        ),
        both(
            "/spec/kubernetes/version",
            json!("v1.25.6"),
            (403, "spec.kubernetes.version: Unsupported value"),
        ),
        (
            "/spec/kubernetes/version",
            json!(""),
            (403, "spec.kubernetes.version: Invalid value"),
            MADE,
        ),
        (
            "/spec/credentialsBindingName",
            json!("aws-free-1"),
            MADE,
            (422, "spec.secretBindingName: Forbidden"),
        ),
    ]
}

fn types() -> Vec<Case> {
    let wrong = |path, value, wanted| both(path, value, (400, wanted));
    vec![
        wrong(
            "/spec/region",
            json!(5),
            "cannot unmarshal number into Go struct field Shoot.spec.region of type string",
        ),
        wrong("/spec/kubernetes/version", json!(1.32), "spec.kubernetes.version of type string"),
        wrong("/spec/provider/workers/0/minimum", json!("3"), "workers.minimum of type int32"),
        wrong("/spec/provider/workers/0/minimum", json!(1.5), "cannot unmarshal number 1.5"),
        wrong(
            "/spec/provider/workers/0/maximum",
            json!(3_000_000_000_u64),
            "workers.maximum of type int32",
        ),
        wrong("/spec/purpose", json!(true), "cannot unmarshal bool"),
        wrong("/spec/extensions", json!({}), "cannot unmarshal object"),
        wrong("/spec/maintenance/autoUpdate/kubernetesVersion", json!("yes"), "of type bool"),
        wrong("/spec/provider/workers/0/zones", json!("eu-central-1a"), "workers.zones of type"),
        wrong("/spec/provider/workers/0/volume/size", json!(50), "volume.size of type string"),
        wrong("/spec", json!("x"), "cannot unmarshal string"),
    ]
}

fn workers() -> Vec<Case> {
    let at = |key: &str| -> &'static str { format!("{WORKER}/{key}").leak() };
    let case = |key: &str, value, answer| both(at(key), value, answer);
    let needed = (422, "spec.provider.workers: Forbidden: at least one");
    vec![
        case("name", json!("sixteen-letters-"), (422, "workers[0].name")),
        case("name", json!("abcdefghijklmnop"), (422, "workers[0].name: Too long")),
        case("name", json!("a_b"), (422, "workers[0].name: Invalid value: \"a_b\"")),
        case(
            "zones",
            json!(["eu-central-1a", "eu-central-1a"]),
            (403, "workers[0].zones[1]: Duplicate value"),
        ),
        case("zones", json!(["eu-west-1a"]), (403, "workers[0].zones[0]: Unsupported value")),
        case("volume/size", Value::Null, (422, "workers[0].volume.size: Invalid value: \"\"")),
        case(
            "volume/size",
            json!("50GB"),
            (422, "workers[0].volume.size: Invalid value: \"50GB\""),
        ),
        case("volume/size", json!("-5Gi"), (422, "workers[0].volume.size")),
        case("volume/type", json!("floppy"), (403, "workers[0].volume.type: Unsupported value")),
        case("machine", Value::Null, (403, "workers[0].machine.type")),
        case("machine/type", json!("pc"), (403, "workers[0].machine.type")),
        (
            at("machine/image"),
            json!({"name": "dos", "version": "1.0.0"}),
            (403, "workers[0].machine.image: Invalid value"),
            (403, "workers[0]: Invalid value: \"dos\": image is not supported"),
        ),
        case(
            "machine/image",
            json!({"name": "gardenlinux", "version": "0.1.0"}),
            (403, "workers[0].machine.image"),
        ),
        case("machine/image", json!({"version": "1877.4.0"}), (403, "workers[0].machine.image")),
        case(
            "machine/architecture",
            json!("arm64"),
            (403, "workers[0].machine.type: Invalid value"),
        ),
        case(
            "machine/architecture",
            json!("foo"),
            (403, "workers[0].machine.architecture: Unsupported value"),
        ),
        case("cri", json!({"name": "foo"}), (403, "workers[0].cri.name: Invalid value: \"foo\"")),
        (at("minimum"), json!(0), needed, MADE),
        (at("maximum"), json!(501), MADE, (403, "limit of 500 configured in the CloudProfile")),
        case("maximum", json!(1), (422, "workers[0].maximum")),
        case("minimum", json!(-1), (422, "workers[0].minimum")),
        case("maxSurge", json!(-1), (422, "workers[0].maxSurge: Invalid value")),
        case("maxSurge", json!("10"), (422, "workers[0].maxSurge: Invalid value")),
        case("maxUnavailable", json!("150%"), (422, "workers[0].maxUnavailable: Invalid value")),
        case("maxSurge", json!(0), (422, "workers[0].maxUnavailable: Invalid value")),
        case(
            "taints",
            json!([{"key": "a", "effect": "Foo"}]),
            (422, "workers[0].taints[0].effect: Unsupported value"),
        ),
        case("taints", json!([{"key": "a"}]), (422, "workers[0].taints[0].effect: Required value")),
        case("taints", json!([{"key": "a", "effect": "NoSchedule"}]), needed),
        case("caBundle", json!("x"), (422, "workers[0].caBundle: Invalid value")),
        (
            "/spec/provider/workers",
            json!([]),
            needed,
            (422, "spec.provider.infrastructureConfig: Forbidden"),
        ),
    ]
}

fn statics() -> Vec<Case> {
    let window = |begin: &str, end: &str| json!({"begin": begin, "end": end});
    let tolerance = |kind: Value| json!({"highAvailability": {"failureTolerance": kind}});
    vec![
        both("/spec/purpose", json!("nope"), (422, "spec.purpose: Unsupported value: \"nope\"")),
        both("/spec/purpose", json!("infrastructure"), (422, "spec.purpose: Unsupported value")),
        (
            "/spec/networking/type",
            Value::Null,
            (422, "metadata.labels: Invalid value: \"networking.extensions.gardener.cloud/\""),
            (422, "spec.networking.type: Required value"),
        ),
        both("/spec/networking/type", json!(""), (422, "metadata.labels: Invalid value")),
        both("/spec/networking/nodes", json!(""), (422, "spec.networking.nodes: Invalid value")),
        both(
            "/spec/networking/nodes",
            json!("10.250.0.0/33"),
            (422, "spec.networking.nodes: Invalid value"),
        ),
        both("/spec/networking/pods", json!("10.250.0.0/16"), (403, "must not overlap with")),
        (
            "/spec/networking/pods",
            json!("100.96.0.0/30"),
            (422, "spec.provider.workers: Invalid value"),
            MADE,
        ),
        both(
            "/spec/networking/ipFamilies",
            json!(["foo"]),
            (422, "spec.networking.ipFamilies[0]: Unsupported value"),
        ),
        (
            "/spec/networking/ipFamilies",
            json!(["IPv6"]),
            (422, "spec.networking.ipFamilies: Invalid value"),
            (422, "spec.networking.nodes: Invalid value: \"10.250.0.0\": must be a valid IPv6"),
        ),
        both(
            "/spec/maintenance/timeWindow",
            window("220000", "230000"),
            (422, "timeWindow.begin/end: Invalid value"),
        ),
        both(
            "/spec/maintenance/timeWindow",
            window("220000+0000", "050000+0000"),
            (422, "spec.maintenance.timeWindow: Invalid value"),
        ),
        both(
            "/spec/maintenance/timeWindow",
            window("foo", "bar"),
            (422, "timeWindow.begin/end: Invalid value"),
        ),
        both(
            "/spec/maintenance/timeWindow",
            window("250000+0000", "010000+0000"),
            (422, "timeWindow.begin/end: Invalid value"),
        ),
        both(
            "/spec/maintenance/timeWindow",
            json!({"begin": "220000+0000"}),
            (422, "could not parse end time"),
        ),
        both(
            "/spec/controlPlane",
            tolerance(json!({"type": "foo"})),
            (422, "failureTolerance.type: Unsupported value"),
        ),
        both(
            "/spec/controlPlane",
            tolerance(json!({})),
            (422, "failureTolerance.type: Unsupported value"),
        ),
        both(
            "/spec/addons",
            json!({"kubernetesDashboard": {"authenticationMode": "foo"}}),
            (422, "authenticationMode: Unsupported value"),
        ),
        both(
            "/spec/dns",
            json!({"domain": "other.kyma.kyma.example.com"}),
            (422, "spec.dns: Invalid value"),
        ),
        both("/spec/dns", json!({"domain": "a b"}), (422, "spec.dns.domain: Invalid value")),
    ]
}

fn kubernetes() -> Vec<Case> {
    vec![
        both(
            "/spec/kubernetes/kubeProxy",
            json!({"mode": "foo"}),
            (422, "spec.kubernetes.kubeProxy.mode: Unsupported value"),
        ),
        both(
            "/spec/kubernetes/kubelet",
            json!({"maxPods": -1}),
            (422, "spec.kubernetes.kubelet.maxPods: Invalid value"),
        ),
        both(
            "/spec/kubernetes/clusterAutoscaler",
            json!({"expander": "foo"}),
            (422, "clusterAutoscaler.expander: Unsupported value"),
        ),
        both(
            "/spec/kubernetes/kubeAPIServer",
            json!({"admissionPlugins": [{}]}),
            (422, "admissionPlugins[0].name: Required value"),
        ),
        (
            "/spec/kubernetes/kubeAPIServer",
            json!({"enableBasicAuthentication": true}),
            (422, "enableBasicAuthentication: Forbidden"),
            MADE,
        ),
        (
            "/spec/kubernetes/allowPrivilegedContainers",
            json!(true),
            (422, "allowPrivilegedContainers: Forbidden"),
            MADE,
        ),
        (
            "/spec/kubernetes/enableStaticTokenKubeconfig",
            json!(true),
            MADE,
            (422, "enableStaticTokenKubeconfig: Invalid value"),
        ),
        (
            "/spec/extensions",
            json!([{"type": "shoot-dns-service"}, {"type": "shoot-dns-service"}]),
            MADE,
            (422, "spec.extensions[1].type: Duplicate value"),
        ),
        both("/spec/extensions", json!([{}]), (422, "metadata.labels: Invalid value")),
    ]
}

fn changed(name: &str, path: &str, value: &Value) -> DynamicObject {
    let mut whole = serde_json::to_value(shoot(name)).unwrap();
    set(&mut whole, path, value);
    serde_json::from_value(whole).unwrap()
}

/// Sets the value at a path, or takes it away.
fn set(object: &mut Value, path: &str, value: &Value) {
    let (parent, key) = path.rsplit_once('/').unwrap();
    let steps = parent.split('/').filter(|step| !step.is_empty());
    let parent = steps.fold(object, |here, step| match step.parse::<usize>() {
        Ok(place) => &mut here[place],
        Err(_) => &mut here[step],
    });
    match value {
        Value::Null => drop(parent.as_object_mut().unwrap().shift_remove(key)),
        value => parent[key] = value.clone(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn shoots_that_break_a_rule_get_the_answer_of_the_version() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let mut wrong = Vec::new();
        let cases =
            [references(), types(), workers(), statics(), kubernetes(), details::cases()].concat();
        for (number, (path, value, older, newer)) in cases.into_iter().enumerate() {
            let expected = if version == Version::V1_65 { older } else { newer };
            let odd = changed(&format!("odd-{number}"), path, &value);

            let answer = garden.shoots.create(&PostParams::default(), &odd).await;
            let (code, message) = match answer {
                Ok(_) => (201, String::new()),
                refused => refusal(refused),
            };

            if code != expected.0 || !message.contains(expected.1) {
                wrong.push(format!(
                    "{version} {path} = {value}: {expected:?}, not {code} {message}"
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_by_admission_has_no_causes_and_one_by_a_static_rule_has() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let details = async |path: &str, value: Value| {
        let odd = changed("odd", path, &value);
        match garden.shoots.create(&PostParams::default(), &odd).await.unwrap_err() {
            kube::Error::Api(status) => status.details.clone().unwrap(),
            other => panic!("not a refusal of the API: {other:?}"),
        }
    };

    let admission = details("/spec/region", json!("nope")).await;
    let by_rule = details("/spec/purpose", json!("nope")).await;

    assert_eq!((admission.kind.as_str(), admission.causes.len()), ("shoots", 0));
    assert_eq!((by_rule.kind.as_str(), by_rule.causes.len()), ("Shoot", 1));
}
