//! Maintenance windows of Shoots, as they are read from the garden and kept by orchestrations.

use std::sync::Arc;

use base::Clock;
use broker::orchestrations::{
    Followers, OrchestrationEnv, Orchestrations, WindowSource as _, policy::ShootTimes,
    source::GardenWindows,
};
use clients::gardener::Shoot;
use domain::orchestration::Kind;
use jiff::Timestamp;
use serde_json::{Value, json};
use store::{
    BrokerStore,
    testing::{PreparedDatabase, Sort},
};

use crate::{
    garden::InGarden,
    world::{World, parameters},
};

const NIGHT: (&str, &str) = ("220000+0100", "020000+0100");
const NOON: (&str, &str) = ("110000+0000", "130000+0000");

fn maintenance((begin, end): (&str, &str)) -> Value {
    json!({ "timeWindow": { "begin": begin, "end": end } })
}

/// A Shoot that Gardener accepts; without a window Gardener chooses one.
fn shoot(name: &str, window: Option<(&str, &str)>) -> Shoot {
    let mut shoot = json!({
        "metadata": { "name": name },
        "spec": {
            "cloudProfileName": "aws",
            "region": "eu-central-1",
            "secretBindingName": "aws-free-1",
            "networking": { "type": "calico", "nodes": "10.250.0.0/16" },
            "kubernetes": { "version": "1.25.6" },
            "provider": {
                "type": "aws",
                "infrastructureConfig": {
                    "kind": "InfrastructureConfig",
                    "apiVersion": "aws.provider.extensions.gardener.cloud/v1alpha1",
                    "networks": {
                        "vpc": { "cidr": "10.250.0.0/16" },
                        "zones": [{
                            "name": "eu-central-1a", "internal": "10.250.48.0/20",
                            "public": "10.250.32.0/20", "workers": "10.250.0.0/19",
                        }],
                    },
                },
                "workers": [{
                    "name": "cpu-worker-0", "machine": { "type": "m5.xlarge" }, "minimum": 3,
                    "maximum": 10, "volume": { "type": "gp3", "size": "50Gi" },
                    "zones": ["eu-central-1a"],
                }],
            },
        },
    });
    if let Some(window) = window {
        shoot["spec"]["maintenance"] = maintenance(window);
    }
    serde_json::from_value(shoot).unwrap()
}

fn times((begin, end): (&str, &str)) -> ShootTimes {
    (begin.into(), end.into())
}

async fn create(windows: &GardenWindows, name: &str, window: Option<(&str, &str)>) -> Value {
    let created = windows.gardener.create(&shoot(name, window)).await.unwrap();
    serde_json::to_value(created).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shoot_has_its_own_window_and_a_changed_one_counts_at_once() {
    let all = InGarden::start().await;
    let windows = all.windows(&Clock::running()).await;
    assert!(windows.read().await.unwrap().shoots.is_empty());

    create(&windows, "night", Some(NIGHT)).await;
    let chosen = create(&windows, "chosen", None).await;

    let shoots = windows.read().await.unwrap().shoots;
    let chosen = &chosen["spec"]["maintenance"]["timeWindow"];
    let chosen = (chosen["begin"].as_str().unwrap(), chosen["end"].as_str().unwrap());
    assert_eq!(shoots, [("night".into(), times(NIGHT)), ("chosen".into(), times(chosen))].into());

    let change = json!({ "spec": { "maintenance": maintenance(NOON) } });
    windows.gardener.merge("night", &change).await.unwrap();
    assert_eq!(windows.read().await.unwrap().shoots["night"], times(NOON));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_gets_the_window_of_its_shoot_unless_the_policy_has_another_one() {
    let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
    let clock = Clock::held_at(at("2026-01-05T12:00:00Z").unwrap());
    let all = InGarden::start().await;
    let windows = all.windows(&clock).await;
    let database = PreparedDatabase::<BrokerStore>::held(Sort::Sqlite, &clock).await;
    let (store, operations) = database.open().await;
    let world = World::of(store.clone(), operations, clock, None);
    world.made(4).await;
    // The last runtime has no Shoot in the garden.
    for (instance, window) in [("i-0", NIGHT), ("i-1", NOON), ("i-2", NIGHT)] {
        let name = store.find(instance).await.unwrap().unwrap().shoot_name;
        create(&windows, &name, Some(window)).await;
    }
    all.keep(r#"{"rules": [{"match": {"globalAccountID": "^tn-2$"}, "days": ["Sat"]}]}"#);
    let orchestrations = Orchestrations::new(Arc::new(OrchestrationEnv {
        broker: world.broker.clone(),
        windows: Arc::new(windows),
        spc: None,
        kyma_version: "2.10.0".into(),
        versions: None,
        followers: Followers::default(),
    }));

    let asked = parameters(&json!({ "type": "parallel", "maintenanceWindow": true }));
    let preview = orchestrations.preview(Kind::UpgradeKyma, asked).await.unwrap();

    let found = preview.runtimes.iter().map(|it| {
        let instance = it.instance_id.as_str();
        (instance, it.maintenance_window_begin, it.maintenance_window_end)
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            ("i-0", at("2026-01-05T21:00:00Z"), at("2026-01-06T01:00:00Z")),
            ("i-1", at("2026-01-05T11:00:00Z"), at("2026-01-05T13:00:00Z")),
            ("i-2", at("2026-01-10T21:00:00Z"), at("2026-01-11T01:00:00Z")),
        ]
    );
    let skipped: Vec<_> =
        preview.skipped.iter().map(|it| (it.instance_id.as_str(), it.reason.as_str())).collect();
    assert_eq!(skipped, [("i-3", "its Shoot has no maintenance window")]);
}
