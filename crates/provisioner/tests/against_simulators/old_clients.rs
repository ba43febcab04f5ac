//! Behaviour that clients of the original rely on: versions that Gardener has raised.

mod moving;

use provisioner::{requests, shoots::versions, status::StatusFields};
use serde_json::{Value, json};

use crate::world::{World, aws, caller, kyma, with_kyma};

/// The ordered version, and the version to which Gardener has raised it.
const KUBERNETES: [&str; 2] = ["1.30.0", "1.31.0"];
const IMAGE: [&str; 2] = ["1592.13.0", "1877.4.0"];

/// A cluster with the lower versions.
fn ordered(name: &str) -> requests::Provision {
    let mut request = aws(name);
    request.cluster.kubernetes_version = Some(KUBERNETES[0].into());
    request.cluster.machine_image = Some("gardenlinux".into());
    request.cluster.machine_image_version = Some(IMAGE[0].into());
    request
}

/// The full configuration that a client sends with every change.
fn configured(most: i32) -> requests::UpgradeShoot {
    requests::UpgradeShoot {
        kubernetes_version: Some(KUBERNETES[0].into()),
        machine_image: Some("gardenlinux".into()),
        machine_image_version: Some(IMAGE[0].into()),
        auto_scaler_max: Some(most),
        ..requests::UpgradeShoot::default()
    }
}

/// Gardener raises both versions by itself.
async fn raise(world: &World, shoot: &str) {
    let garden = &world.env().gardener;
    let live = serde_json::to_value(garden.shoot(shoot).await.unwrap().unwrap()).unwrap();
    let mut workers = live["spec"]["provider"]["workers"].clone();
    workers[0]["machine"]["image"]["version"] = json!(IMAGE[1]);
    let spec = json!({"kubernetes": {"version": KUBERNETES[1]}, "provider": {"workers": workers}});
    garden.merge(shoot, &json!({"spec": spec})).await.unwrap();
}

async fn spec(world: &World, shoot: &str) -> Value {
    let shoot = world.env().gardener.shoot(shoot).await.unwrap().unwrap();
    serde_json::to_value(&shoot.spec).unwrap()
}

fn notes() -> String {
    let [kubernetes, image] = [KUBERNETES, IMAGE].map(|[low, high]| {
        assert!(versions::is_lower(low, high));
        format!("stays {high}, because {low} is lower")
    });
    format!("kubernetesVersion {kubernetes}. machineImageVersion {image}")
}

/// The higher versions are in the Shoot and in the store, and the rest of the change is there.
async fn keeps_the_higher(world: &World, runtime: &str, shoot: &str, most: i32) {
    let live = spec(world, shoot).await;
    let pool = &live["provider"]["workers"][0];
    assert_eq!(live["kubernetes"]["version"], KUBERNETES[1]);
    assert_eq!(pool["machine"]["image"]["version"], IMAGE[1]);
    assert_eq!(pool["maximum"], most);
    let status =
        world.provisioner.runtime_status(&caller(), runtime, StatusFields::NONE).await.unwrap();
    let stored = &status.configuration.cluster;
    assert_eq!(stored.kubernetes_version, KUBERNETES[1]);
    assert_eq!(stored.machine_image_version.as_deref(), Some(IMAGE[1]));
    assert_eq!(stored.auto_scaler_max, most);
}

#[tokio::test(flavor = "multi_thread")]
async fn upgrade_shoot_keeps_versions_that_gardener_has_raised_and_applies_the_rest() {
    let world = World::sqlite().await;
    let made = world.provisioned(ordered("raised")).await;
    raise(&world, "raised").await;

    let begun =
        world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, configured(12)).await.unwrap();
    let ended = world.success_of(&begun.id).await;

    assert_eq!(begun.message, format!("Starting Gardener Shoot upgrade. {}", notes()));
    assert_eq!(ended.message, format!("Operation succeeded. {}", notes()));
    keeps_the_higher(&world, &made.runtime_id, "raised", 12).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_that_gardener_raises_between_the_call_and_its_step_are_kept() {
    let mut world = World::postgres().await;
    let made = world.provisioned(ordered("between")).await;
    world.engine.kill();

    let begun =
        world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, configured(12)).await.unwrap();
    raise(&world, "between").await;
    world.another().await;
    let ended = world.success_of(&begun.id).await;

    assert_eq!(begun.message, "Starting Gardener Shoot upgrade");
    assert_eq!(ended.message, format!("Operation succeeded. {}", notes()));
    keeps_the_higher(&world, &made.runtime_id, "between", 12).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_names_no_conflict_strategy_clears_the_label_of_the_one_before() {
    let world = World::sqlite().await;
    let made = world.provisioned(with_kyma("labels", "1.22.0")).await;
    let server = world.landscape.running.clusters().server();
    let strategies = || {
        ["configmaps", "secrets"].map(|kind| {
            let name = "monitoring-installer-config";
            let found = server.get("labels", kind, "kyma-installer", name).unwrap();
            found["metadata"]["labels"]["conflict-strategy"].clone()
        })
    };
    assert_eq!(strategies(), ["Merge", "Merge"]);

    let mut silent = kyma("1.24.11");
    silent.components[0].conflict_strategy = None;
    let newer = requests::Upgrade { kyma: Some(silent), kubernetes_version: None };
    let begun = world.provisioner.upgrade(&caller(), &made.runtime_id, newer).await.unwrap();
    world.success_of(&begun.id).await;

    assert_eq!(strategies(), ["", ""]);
}
