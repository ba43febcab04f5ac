//! Every provider: Gardener accepts what is made of a request, and has every field of it.

mod fields;
mod orders;

use provisioner::requests;
use serde_json::json;

use self::{
    fields::{missing, table},
    orders::azure,
};
use crate::world::{World, caller};

#[tokio::test(flavor = "multi_thread")]
async fn gardener_has_every_field_of_a_request_for_each_provider() {
    for gardener in ["1.65", "1.117"] {
        Box::pin(every_field_is_there(gardener)).await;
    }
}

async fn every_field_is_there(gardener: &str) {
    let world = World::playing(gardener).await;

    for (request, spec, worker) in table() {
        let cluster = request.cluster.clone();
        let made = world.provisioned(request).await;
        let shoot = world.env().gardener.shoot(&cluster.name).await.unwrap().unwrap();
        let found = serde_json::to_value(&shoot).unwrap();
        let mut wrong = missing(&spec, &found["spec"], "spec");
        wrong.extend(missing(&worker, &found["spec"]["provider"]["workers"][0], "workers[0]"));
        let common = json!({
            "metadata": {
                "namespace": "garden-kyma",
                "labels": {"account": "ga-1", "subaccount": "sa-1"},
                "annotations": {
                    "kcp.provisioner.kyma-project.io/runtime-id": made.runtime_id,
                    "compass.provisioner.kyma-project.io/runtime-id": made.runtime_id,
                    "kcp.provisioner.kyma-project.io/operation-id": made.id,
                    "compass.provisioner.kyma-project.io/operation-id": made.id,
                    "support.gardener.cloud/eu-access-for-cluster-nodes": "true",
                },
            },
            "spec": {
                "region": cluster.region,
                "secretBindingName": cluster.target_secret,
                "purpose": "development",
                "maintenance": {"autoUpdate": {
                    "kubernetesVersion": false, "machineImageVersion": false,
                }},
            },
        });
        wrong.extend(missing(&common, &found, "shoot"));
        let kinds: Vec<&str> = found["spec"]["extensions"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|one| one["type"].as_str())
            .collect();
        assert_eq!(kinds, ["shoot-dns-service", "shoot-cert-service", "shoot-networking-filter"]);
        assert!(wrong.is_empty(), "{gardener} {}: {wrong:#?}", cluster.provider);
        let journal = world.engine_journal(&made.id).await;
        let mut notes = journal.iter().filter_map(|entry| entry.reason.as_deref());
        assert_eq!(notes.find(|note| note.contains("unknown field")), None, "{gardener}");
        let id = &made.runtime_id;
        let larger = requests::UpgradeShoot {
            auto_scaler_max: Some(9),
            ..requests::UpgradeShoot::default()
        };
        let changed = world.provisioner.upgrade_shoot(&caller(), id, larger).await.unwrap();
        world.success_of(&changed.id).await;
        let asleep = world.provisioner.hibernate(&caller(), id).await.unwrap();
        world.success_of(&asleep.id).await;
        let removed =
            world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();
        world.success_of(&removed.id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_network_of_azure_may_grow() {
    let world = World::sqlite().await;
    let made = world.provisioned(azure("grow")).await;
    let mut config = azure("grow").cluster.provider_config;
    config.azure.as_mut().unwrap().vnet_cidr = "10.250.0.0/16".into();
    let wider = requests::UpgradeShoot {
        provider_config: Some(config),
        ..requests::UpgradeShoot::default()
    };

    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, wider).await.unwrap();
    world.success_of(&begun.id).await;

    let shoot = world.env().gardener.shoot("grow").await.unwrap().unwrap();
    let found = serde_json::to_value(&shoot).unwrap();
    let networks = &found["spec"]["provider"]["infrastructureConfig"]["networks"];
    assert_eq!(networks["vnet"]["cidr"], "10.250.0.0/16");
}
