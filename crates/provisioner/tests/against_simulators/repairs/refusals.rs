//! Changes that are refused in the state in which a cluster is.

use provisioner::{requests, status::StatusFields};
use serde_json::{Value, json};

use super::{scenario, wider};
use crate::world::{World, aws, caller, kyma, with_kyma};

#[tokio::test(flavor = "multi_thread")]
async fn only_an_upgrade_of_kyma_can_be_rolled_back() {
    let world = World::sqlite().await;
    let mut request = with_kyma("back", "1.22.0");
    request.cluster.kubernetes_version = Some("1.30.0".into());
    let made = world.provisioned(request).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let upgrades = [
        requests::Upgrade { kyma: Some(kyma("1.24.11")), kubernetes_version: None },
        requests::Upgrade { kyma: None, kubernetes_version: Some("1.31.0".into()) },
    ];
    for (upgrade, message) in upgrades.into_iter().zip(["Kyma", "Kubernetes"]) {
        let begun = provisioner.upgrade(&caller(), id, upgrade).await.unwrap();
        assert_eq!(begun.message, format!("Starting {message} upgrade"));
        world.success_of(&begun.id).await;
    }

    let refused =
        provisioner.roll_back_upgrade(&caller(), id, StatusFields::NONE).await.unwrap_err();

    assert!(refused.message.contains("only if it is the last operation"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_a_running_cluster_is_refused_while_it_sleeps_or_goes() {
    let world = World::sqlite().await;
    let made = world.provisioned(with_kyma("sleep", "1.22.0")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let asleep = provisioner.hibernate(&caller(), id).await.unwrap();
    world.success_of(&asleep.id).await;
    let upgrade = || requests::Upgrade { kyma: Some(kyma("1.24.11")), kubernetes_version: None };

    let sleeping = [
        provisioner.upgrade_shoot(&caller(), id, wider(31)).await.unwrap_err(),
        provisioner.upgrade(&caller(), id, upgrade()).await.unwrap_err(),
        provisioner.reconnect_agent(&caller(), id).await.unwrap_err(),
    ];
    let configuration =
        provisioner.runtime_status(&caller(), id, StatusFields::NONE).await.unwrap();
    scenario(&world, "sleep", json!("stuck-delete")).await;
    world.env().gardener.delete("sleep").await.unwrap();
    let going = [
        provisioner.upgrade_shoot(&caller(), id, wider(31)).await.unwrap_err(),
        provisioner.hibernate(&caller(), id).await.unwrap_err(),
        provisioner.reconnect_agent(&caller(), id).await.unwrap_err(),
    ];

    for refused in sleeping {
        assert_eq!(refused.code.number(), 400);
        assert!(refused.message.contains("is hibernated: wake its Shoot"), "{refused}");
    }
    assert_eq!(configuration.configuration.cluster.auto_scaler_max, 10);
    for refused in going {
        assert_eq!(refused.code.number(), 400);
        assert!(refused.message.contains("is being deleted"), "{refused}");
    }
    let removed = provisioner.deprovision(&caller(), id, false).await.unwrap();
    scenario(&world, "sleep", Value::Null).await;
    world.success_of(&removed.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_gardener_cannot_let_sleep_is_refused_at_once() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("awake")).await;
    let id = &made.runtime_id;
    scenario(&world, "awake", "hibernation-impossible".into()).await;
    let status = async || {
        world
            .provisioner
            .runtime_status(&caller(), id, StatusFields::ALL)
            .await
            .unwrap()
            .hibernation
    };
    world.until(async || status().await.possible == Some(false)).await;

    let refused = world.provisioner.hibernate(&caller(), id).await.unwrap_err().to_string();

    assert!(refused.contains("Failed to hibernate Cluster: cannot hibernate cluster"), "{refused}");
    assert_eq!(status().await.hibernated, Some(false));
    scenario(&world, "awake", Value::Null).await;
    world.until(async || status().await.possible == Some(true)).await;
    let sleeps = world.provisioner.hibernate(&caller(), id).await.unwrap();
    world.success_of(&sleeps.id).await;
    assert_eq!(status().await.hibernated, Some(true));
}
