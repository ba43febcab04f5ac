//! Refusals, defaults and generations of Gardener.

use kube::{
    Api, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use simulators::{
    garden::{CONFIRMATION, OPERATION, Version},
    pace::Speed,
};

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
async fn every_broken_rule_is_a_cause() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let mut odd = with("spec.purpose", json!("fun"));
    set(&mut odd.data, "spec.provider.workers.0.maxSurge", json!(-1));

    let error = garden.shoots.create(&PostParams::default(), &odd).await.unwrap_err();

    let kube::Error::Api(status) = error else { panic!("{error:?}") };
    let causes = status.details.unwrap().causes;
    let fields: Vec<&str> = causes.iter().map(|cause| cause.field.as_str()).collect();
    assert_eq!(fields, ["spec.provider.workers[0].maxSurge", "spec.purpose"]);
    assert_eq!(status.reason, "Invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_binding_is_forbidden_and_named() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };

    let (code, message) = garden.refused(&with("spec.secretBindingName", json!("nope"))).await;

    assert_eq!(code, 403);
    let expected = r#"is forbidden: secretbinding.core.gardener.cloud "nope" not found"#;
    assert!(message.contains(expected), "{message}");
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
    let unscheduled = garden.create(&shoot("unscheduled")).await;
    set(&mut asked.data, "spec.seedName", json!("aws-ha-eu1"));

    let made = garden.create(&asked).await;
    let testing = json!({"spec": {"purpose": "testing"}});
    let mut replaced = garden.patch("filled", testing).await.unwrap();
    assert_eq!(replaced.data["spec"]["purpose"], "testing");
    for key in ["dns", "purpose"] {
        replaced.data["spec"].as_object_mut().unwrap().shift_remove(key);
    }
    let kept = garden.shoots.replace("filled", &PostParams::default(), &replaced).await.unwrap();

    let spec = &made.data["spec"];
    assert!(unscheduled.data["spec"]["dns"].is_null(), "a domain comes with the Seed");
    assert!(unscheduled.data["spec"]["networking"]["pods"].is_null(), "ranges come with the Seed");
    assert_eq!(spec["dns"]["domain"], "filled.kyma.kyma.example.com");
    assert_eq!(spec["purpose"], "evaluation");
    assert_eq!(spec["networking"]["pods"], "100.96.0.0/11");
    assert_eq!(spec["kubernetes"]["version"], "1.27.9");
    assert_eq!(spec["provider"]["workers"][0]["machine"]["image"]["name"], "gardenlinux");
    assert_eq!(made.metadata.generation, Some(1));
    assert!(made.data["status"]["lastOperation"].is_null());
    assert_eq!(kept.data["spec"]["dns"], spec["dns"]);
    assert_eq!(kept.data["spec"]["purpose"], "evaluation", "the default, not the value before");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_shoot_keeps_for_life_cannot_be_changed() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let mut scheduled = shoot("fixed");
    set(&mut scheduled.data, "spec.seedName", json!("aws-ha-eu1"));
    garden.create(&scheduled).await;
    let zone = |key: &str, value: &str| {
        let mut zones =
            shoot("x").data["spec"]["provider"]["infrastructureConfig"]["networks"]["zones"]
                .clone();
        zones[0][key] = json!(value);
        json!({"spec": {"provider": {"infrastructureConfig": {"networks": {"zones": zones}}}}})
    };
    let cases = [
        (
            json!({"spec": {"exposureClassName": "converged-cloud-internet"}}),
            "spec.exposureClassName",
        ),
        (json!({"spec": {"schedulerName": "other"}}), "spec.schedulerName"),
        (json!({"spec": {"networking": {"pods": "100.128.0.0/11"}}}), "spec.networking.pods"),
        (
            json!({"spec": {"networking": {"services": "100.80.0.0/13"}}}),
            "spec.networking.services",
        ),
        (json!({"spec": {"secretBindingName": "aws-free-2"}}), "spec.secretBindingName"),
        (json!({"spec": {"dns": {"domain": "elsewhere.example.com"}}}), "spec.dns.domain"),
        (json!({"spec": {"kubernetes": {"version": "1.24.9"}}}), "downgrade is not supported"),
        (json!({"spec": {"kubernetes": {"version": "1.27.0"}}}), "cannot skip a minor version"),
    ];

    for (patch, expected) in cases {
        let (code, message) = refusal(garden.patch("fixed", patch.clone()).await);

        assert_eq!(code, 422, "{patch}: {message}");
        assert!(message.contains(expected), "{patch}: {message}");
    }
    for (patch, expected) in [
        (zone("workers", "10.250.64.0/19"), "networks.zones[0].workers: Invalid value"),
        (zone("name", "eu-central-1b"), "networks.zones[0].name: Invalid value"),
    ] {
        let (code, message) = refusal(garden.patch("fixed", patch).await);
        let by = r#"admission webhook "validator.admission-aws.extensions.gardener.cloud" denied the request: "#;
        assert_eq!(code, 403, "{message}");
        assert!(message.starts_with(by) && message.contains(expected), "{message}");
    }
    let to = |binding: &str| json!({"spec": {"secretBindingName": null, "credentialsBindingName": binding}});
    let (code, message) = refusal(garden.patch("fixed", to("aws-free-2")).await);
    assert_eq!(code, 403, "{message}");
    assert!(message.contains("it is not allowed to change the referenced Secret"), "{message}");
    garden.patch("fixed", to("aws-free-1")).await.unwrap();
    garden.patch("fixed", json!({"spec": {"kubernetes": {"version": "1.26.0"}}})).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_tolerance_can_be_set_later_and_stays_once_it_is_set() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        garden.create(&shoot("spread")).await;
        let tolerance = |kind: Value| json!({"spec": {"controlPlane": {"highAvailability": {"failureTolerance": {"type": kind}}}}});

        let node = garden.patch("spread", tolerance(json!("node"))).await.unwrap();
        let zone = refusal(garden.patch("spread", tolerance(json!("zone"))).await);
        let removed = json!({"spec": {"controlPlane": null}});
        let removed = refusal(garden.patch("spread", removed).await);

        let field = "spec.controlPlane.highAvailability.failureTolerance.type: Invalid value";
        assert_eq!(
            node.data["spec"]["controlPlane"]["highAvailability"]["failureTolerance"]["type"],
            "node"
        );
        for (code, message) in [zone, removed] {
            assert_eq!(code, 422, "{version}: {message}");
            assert!(
                message.contains(field) && message.contains("field is immutable"),
                "{version}: {message}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_confirmed_by_every_word_that_go_reads_as_true() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let confirmed = |word: &str| json!({"metadata": {"annotations": {CONFIRMATION: word}}});

    for word in ["yes", "tRUE", "0", ""] {
        garden.create(&shoot("kept")).await;
        garden.patch("kept", confirmed(word)).await.unwrap();
        let (code, message) = refusal(garden.shoots.delete("kept", &DeleteParams::default()).await);
        garden.delete("kept").await;

        assert_eq!(code, 403, "{word:?}: {message}");
    }
    for word in ["1", "t", "T", "true", "TRUE", "True"] {
        garden.create(&shoot("gone")).await;
        garden.patch("gone", confirmed(word)).await.unwrap();
        let answer = garden.shoots.delete("gone", &DeleteParams::default()).await;

        assert!(answer.is_ok(), "{word}: {answer:?}");
        assert!(garden.shoots.get_opt("gone").await.unwrap().is_none());
    }
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
async fn an_operation_counts_a_generation_only_in_the_state_it_is_for() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    garden.create(&shoot("counted")).await;
    let annotate = |value: Value| json!({"metadata": {"annotations": {OPERATION: value}}});
    let ask = async |state: Option<&str>, operation: &str| {
        if let Some(state) = state {
            let last = json!({"type": "Create", "state": state, "progress": 100});
            let status = Patch::Merge(json!({"status": {"lastOperation": last}}));
            garden.shoots.patch_status("counted", &PatchParams::default(), &status).await.unwrap();
        }
        let before = garden.shoots.get("counted").await.unwrap().metadata.generation.unwrap();
        let after = garden.patch("counted", annotate(json!(operation))).await.unwrap();
        let stays = after.annotations().contains_key(OPERATION);
        let counted = after.metadata.generation.unwrap() - before;
        garden.patch("counted", annotate(Value::Null)).await.unwrap();
        (counted, stays)
    };

    let table = [
        (None, "reconcile", (0, true)),
        (Some("Succeeded"), "reconcile", (1, false)),
        (Some("Succeeded"), "retry", (0, true)),
        (Some("Succeeded"), "maintain", (0, true)),
        (Some("Succeeded"), "rotate-ssh-keypair", (1, true)),
        (Some("Failed"), "reconcile", (0, true)),
        (Some("Failed"), "retry", (1, false)),
    ];
    for (state, operation, expected) in table {
        assert_eq!(ask(state, operation).await, expected, "{operation} in {state:?}");
    }
    for operation in ["foo", "Reconcile", "rotate-ca-complete"] {
        let (code, message) = refusal(garden.patch("counted", annotate(json!(operation))).await);
        assert_eq!(code, 422, "{message}");
        assert!(message.contains("metadata.annotations[gardener.cloud/operation]"), "{message}");
    }
    let other = json!({"metadata": {"annotations": {"note": "x"}}});
    let before = garden.shoots.get("counted").await.unwrap().metadata.generation;
    assert_eq!(garden.patch("counted", other).await.unwrap().metadata.generation, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wanted_does_not_change_while_a_shoot_is_deleted() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let mut held = shoot("going");
    held.metadata.finalizers = Some(vec!["example.com/held".to_owned()]);
    garden.create(&held).await;
    garden.delete("going").await;

    let spec = refusal(garden.patch("going", json!({"spec": {"purpose": "testing"}})).await);
    let label = garden.patch("going", json!({"metadata": {"labels": {"a": "b"}}})).await;
    let gone = garden.patch("going", json!({"metadata": {"finalizers": []}})).await;

    assert_eq!(spec.0, 422);
    assert!(spec.1.contains("field is immutable"), "{}", spec.1);
    assert!(label.is_ok() && gone.is_ok());
    assert!(garden.shoots.get_opt("going").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn strategic_merges_go_through_workers_by_name() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    garden.create(&shoot("merged")).await;
    let worker = json!({"name": "cpu-worker-0", "maximum": 12});
    let patch = Patch::Strategic(json!({"spec": {"provider": {"workers": [worker]}}}));

    let merged = garden.shoots.patch("merged", &PatchParams::default(), &patch).await.unwrap();

    let workers = merged.data["spec"]["provider"]["workers"].as_array().unwrap().clone();
    assert_eq!(workers.len(), 1);
    assert_eq!(workers[0]["maximum"], 12);
    assert_eq!(workers[0]["machine"]["type"], "m5.xlarge");
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
        "metadata": {"name": "little"}, "spec": {"metrics": {"cpu": "60"}, "scope": {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project"}},
    }));
    namespaced("Quota", "quotas").create(&PostParams::default(), &quota.unwrap()).await.unwrap();
    let bindings = namespaced("SecretBinding", "secretbindings");
    let limited = serde_json::from_value(json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
        "metadata": {"name": "limited"}, "provider": {"type": "aws"},
        "secretRef": {"name": "aws-free-1", "namespace": "garden-kyma"},
        "quotas": [{"name": "little", "namespace": "garden-kyma"}],
    }));
    bindings.create(&PostParams::default(), &limited.unwrap()).await.unwrap();
    let paid = |name: &str| {
        let mut shoot = shoot(name);
        shoot.data["spec"]["secretBindingName"] = json!("limited");
        shoot
    };

    // Ten machines of four cores each.
    garden.create(&paid("first")).await;
    let (code, message) = garden.refused(&paid("second")).await;
    bindings.delete("limited", &DeleteParams::default()).await.unwrap();
    let held = bindings.get("limited").await.unwrap().metadata;

    assert_eq!(code, 403);
    let expected = "quota limits exceeded. Unable to allocate further cpu";
    assert!(message.contains(expected), "{message}");
    assert!(held.deletion_timestamp.is_some(), "it goes with the last Shoot");
    assert_eq!(held.finalizers.unwrap(), ["gardener"]);
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
