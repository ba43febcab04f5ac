//! What Gardener refuses, completes and counts.

use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, PostParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use simulators::pace::Speed;

use crate::support::{Garden, refusal, shoot};

/// A Shoot with one thing changed.
fn with(path: &str, value: Value) -> DynamicObject {
    let mut shoot = shoot("odd");
    set(&mut shoot.data, path, value);
    shoot
}

fn set(object: &mut Value, path: &str, value: Value) {
    let mut here = object;
    for key in path.split('.') {
        here = match key.parse::<usize>() {
            Ok(place) => &mut here[place],
            Err(_) => &mut here[key],
        };
    }
    *here = value;
}

#[tokio::test(flavor = "multi_thread")]
async fn shoots_that_break_a_rule_are_refused_with_the_field_that_does() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let worker = |rest: &str| format!("spec.provider.workers.0.{rest}");
    let networks = |rest: &str| format!("spec.provider.infrastructureConfig.networks.{rest}");
    let cases = [
        ("spec.region".to_owned(), json!("mars-1"), "spec.region: Unsupported value"),
        ("spec.region".to_owned(), Value::Null, "spec.region: Required value"),
        ("spec.cloudProfileName".to_owned(), json!("moon"), "spec.cloudProfileName: Not found"),
        ("spec.cloudProfileName".to_owned(), json!("gcp"), "spec.provider.type: Invalid value"),
        (
            "spec.secretBindingName".to_owned(),
            json!("gcp-free-1"),
            "spec.provider.type: Invalid value",
        ),
        (
            "spec.secretBindingName".to_owned(),
            Value::Null,
            "spec.secretBindingName: Required value",
        ),
        (
            "spec.credentialsBindingName".to_owned(),
            json!("aws-free-1"),
            "incompatible with credentialsBindingName",
        ),
        (
            "spec.kubernetes.version".to_owned(),
            json!("1.99.0"),
            "spec.kubernetes.version: Unsupported value",
        ),
        (
            "spec.kubernetes.version".to_owned(),
            Value::Null,
            "spec.kubernetes.version: Required value",
        ),
        (
            "spec.exposureClassName".to_owned(),
            json!("nobody"),
            "spec.exposureClassName: Invalid value",
        ),
        ("spec.seedName".to_owned(), json!("nowhere"), "spec.seedName: Invalid value"),
        (worker("machine.type"), json!("pc"), "workers[0].machine.type: Unsupported value"),
        (
            worker("machine.image"),
            json!({"name": "dos"}),
            "workers[0].machine.image.name: Unsupported value",
        ),
        (
            worker("machine.image"),
            json!({"name": "gardenlinux", "version": "0.1.0"}),
            "workers[0].machine.image.version: Unsupported value",
        ),
        (worker("volume.type"), json!("floppy"), "workers[0].volume.type: Unsupported value"),
        (worker("zones"), json!(["eu-west-1a"]), "workers[0].zones[0]: Unsupported value"),
        (worker("maximum"), json!(1), "minimum value must be less or equal than maximum value"),
        (worker("minimum"), json!(-1), "workers[0].minimum: Invalid value"),
        (worker("maxSurge"), json!(0), "workers[0].maxUnavailable: Invalid value"),
        (worker("maximum"), json!(501), "limit of 500 total nodes"),
        ("spec.provider.workers".to_owned(), json!([]), "must at least specify one worker pool"),
        (
            "spec.networking.nodes".to_owned(),
            json!("10.250.0.0/33"),
            "spec.networking.nodes: Invalid value",
        ),
        (
            "spec.networking.nodes".to_owned(),
            json!("10.250.0.1/16"),
            "must be valid canonical CIDR",
        ),
        (
            "spec.networking.nodes".to_owned(),
            json!("10.251.0.0/16"),
            "must be a subset of \"spec.networking.nodes\"",
        ),
        (
            "spec.networking.pods".to_owned(),
            json!("10.250.128.0/17"),
            "spec.networking.pods: Invalid value",
        ),
        (networks("zones.0.public"), json!("10.250.0.0/20"), "must not overlap with"),
        (networks("zones.0.internal"), json!("10.9.0.0/20"), "must be a subset of"),
    ];

    for (path, value, expected) in cases {
        let (code, message) = garden.refused(&with(&path, value.clone())).await;

        assert_eq!(code, 422, "{path} = {value}: {message}");
        assert!(message.contains(expected), "{path} = {value}: {message}");
    }
    assert!(garden.shoots.list(&kube::api::ListParams::default()).await.unwrap().items.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_broken_rule_is_a_cause() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let mut odd = with("spec.region", json!("mars-1"));
    set(&mut odd.data, "spec.kubernetes.version", json!("2.0.0"));

    let error = garden.shoots.create(&PostParams::default(), &odd).await.unwrap_err();

    let kube::Error::Api(status) = error else { panic!("{error:?}") };
    let causes = status.details.unwrap().causes;
    let fields: Vec<&str> = causes.iter().map(|cause| cause.field.as_str()).collect();
    assert_eq!(fields, ["spec.region", "spec.kubernetes.version"]);
    assert_eq!(status.reason, "Invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_binding_is_forbidden_and_named() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };

    let (code, message) = garden.refused(&with("spec.secretBindingName", json!("nope"))).await;

    assert_eq!(code, 403);
    assert!(message.contains("garden-kyma/nope"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_have_limits_and_are_taken_once() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };

    let long = garden.refused(&shoot("eighteen-letters-x")).await;
    let hyphens = garden.refused(&shoot("a--b")).await;
    garden.create(&shoot("seventeen-letters")).await;
    let again = garden.refused(&shoot("seventeen-letters")).await;

    assert_eq!((long.0, hyphens.0, again.0), (422, 422, 409));
    assert!(long.1.contains("must not exceed 21 characters"), "{}", long.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_shoot_leaves_out_is_filled_in() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let mut asked = shoot("filled");
    set(&mut asked.data, "spec.kubernetes.version", json!("1.27"));

    let made = garden.create(&asked).await;
    let mut replaced = made.clone();
    for key in ["dns", "purpose"] {
        replaced.data["spec"].as_object_mut().unwrap().shift_remove(key);
    }
    let kept = garden.shoots.replace("filled", &PostParams::default(), &replaced).await.unwrap();

    let spec = &made.data["spec"];
    assert_eq!(spec["dns"]["domain"], "filled.kyma.kyma.example.com");
    assert_eq!(spec["purpose"], "evaluation");
    assert_eq!(spec["networking"]["pods"], "100.96.0.0/11");
    assert_eq!(spec["kubernetes"]["version"], "1.27.9");
    assert_eq!(spec["provider"]["workers"][0]["machine"]["image"]["name"], "gardenlinux");
    assert_eq!(made.metadata.generation, Some(1));
    assert!(made.data["status"]["lastOperation"].is_null());
    assert_eq!(kept.data["spec"]["dns"], spec["dns"]);
    assert_eq!(kept.data["spec"]["purpose"], spec["purpose"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_shoot_keeps_for_life_cannot_be_changed() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    garden.create(&shoot("fixed")).await;
    let zone = |key: &str, value: &str| {
        let mut zones =
            shoot("x").data["spec"]["provider"]["infrastructureConfig"]["networks"]["zones"]
                .clone();
        zones[0][key] = json!(value);
        json!({"spec": {"provider": {"infrastructureConfig": {"networks": {"zones": zones}}}}})
    };
    let cases = [
        (json!({"spec": {"region": "eu-west-2"}}), "spec.region"),
        (json!({"spec": {"provider": {"type": "gcp"}}}), "spec.provider.type"),
        (json!({"spec": {"networking": {"nodes": "10.0.0.0/8"}}}), "spec.networking.nodes"),
        (json!({"spec": {"networking": {"pods": "100.128.0.0/11"}}}), "spec.networking.pods"),
        (
            json!({"spec": {"networking": {"services": "100.80.0.0/13"}}}),
            "spec.networking.services",
        ),
        (json!({"spec": {"secretBindingName": "aws-free-2"}}), "spec.secretBindingName"),
        (json!({"spec": {"dns": {"domain": "elsewhere.example.com"}}}), "spec.dns.domain"),
        (zone("workers", "10.250.64.0/19"), "networks.zones[0].workers"),
        (zone("name", "eu-central-1b"), "removing zones is not allowed"),
        (json!({"spec": {"kubernetes": {"version": "1.24.9"}}}), "downgrade is not supported"),
        (json!({"spec": {"kubernetes": {"version": "1.27.0"}}}), "cannot skip a minor version"),
    ];

    for (patch, expected) in cases {
        let (code, message) = refusal(garden.patch("fixed", patch.clone()).await);

        assert_eq!(code, 422, "{patch}: {message}");
        assert!(message.contains(expected), "{patch}: {message}");
    }
    let moved =
        json!({"spec": {"secretBindingName": null, "credentialsBindingName": "aws-free-1"}});
    garden.patch("fixed", moved).await.unwrap();
    garden.patch("fixed", json!({"spec": {"kubernetes": {"version": "1.26.0"}}})).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_is_deleted_only_when_that_is_confirmed() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    garden.create(&shoot("kept")).await;

    let (code, message) = refusal(garden.shoots.delete("kept", &DeleteParams::default()).await);
    let everything = garden
        .shoots
        .delete_collection(&DeleteParams::default(), &kube::api::ListParams::default())
        .await;
    let wrong =
        json!({"metadata": {"annotations": {"confirmation.gardener.cloud/deletion": "yes"}}});
    garden.patch("kept", wrong).await.unwrap();
    let (again, _) = refusal(garden.shoots.delete("kept", &DeleteParams::default()).await);
    garden.delete("kept").await;

    assert_eq!((code, again), (403, 403));
    assert!(message.contains("confirmation.gardener.cloud/deletion"), "{message}");
    assert!(everything.is_err());
    assert!(garden.shoots.get_opt("kept").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_for_an_operation_counts_a_generation_and_other_metadata_does_not() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    garden.create(&shoot("counted")).await;
    let annotate = |key: &str, value: &str| json!({"metadata": {"annotations": {key: value}}});

    let other = garden.patch("counted", annotate("note", "x")).await.unwrap();
    let retry =
        garden.patch("counted", annotate("gardener.cloud/operation", "retry")).await.unwrap();
    let spec = garden.patch("counted", json!({"spec": {"purpose": "testing"}})).await.unwrap();

    assert_eq!(other.metadata.generation, Some(1));
    assert_eq!(retry.metadata.generation, Some(2));
    assert!(!retry.metadata.annotations.unwrap().contains_key("gardener.cloud/operation"));
    assert_eq!(spec.metadata.generation, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_of_the_account_is_kept() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let namespaced = |kind: &str, plural: &str| -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        Api::namespaced_with(garden.client.clone(), "garden-kyma", &resource)
    };
    let quota = serde_json::from_value(json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Quota",
        "metadata": {"name": "little"}, "spec": {"metrics": {"cpu": "60"}, "scope": {"kind": "Project"}},
    }));
    namespaced("Quota", "quotas").create(&PostParams::default(), &quota.unwrap()).await.unwrap();
    let quotas = json!({"quotas": [{"name": "little", "namespace": "garden-kyma"}]});
    let bindings = namespaced("SecretBinding", "secretbindings");
    let by = kube::api::PatchParams::default();
    bindings.patch("aws-free-1", &by, &kube::api::Patch::Merge(quotas)).await.unwrap();

    // Ten machines of four cores each.
    garden.create(&shoot("first")).await;
    let (code, message) = garden.refused(&shoot("second")).await;
    let in_use = refusal(bindings.delete("aws-free-1", &DeleteParams::default()).await);

    assert_eq!(code, 403);
    let expected = "quota limits exceeded. Unable to allocate further cpu";
    assert!(message.contains(expected), "{message}");
    assert_eq!(in_use.0, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_replacement_is_a_conflict() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let made = garden.create(&shoot("raced")).await;
    let mut changed = made.clone();
    changed.data["spec"]["purpose"] = json!("testing");

    garden.shoots.replace("raced", &PostParams::default(), &changed).await.unwrap();
    let (code, _) = refusal(garden.shoots.replace("raced", &PostParams::default(), &made).await);

    assert_eq!(code, 409);
}
