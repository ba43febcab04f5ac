//! Refusals and defaults of Gardener for new Shoots.

mod deletions;
mod fixed;
mod quotas;
mod updates;

use kube::api::{DynamicObject, PostParams};
use serde_json::{Value, json};
use simulators::pace::Speed;

use crate::support::{Garden, shoot};

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
