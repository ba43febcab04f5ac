//! Fields of a Shoot that cannot be changed any more.

use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use super::set;
use crate::support::{Garden, refusal, shoot};

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
