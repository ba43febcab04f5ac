//! Behaviour that clients of the original rely on.

use provisioner::{
    Caller, requests,
    shoots::versions,
    status::{OperationState, StatusFields},
};
use serde_json::{Value, json};
use simulators::{system::System, testing::TENANTS};

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

/// A caller of the account that a runtime moves to.
fn newcomer() -> Caller {
    Caller { tenant: TENANTS[1].into(), subaccount: None, ..caller() }
}

/// A service that speaks for all accounts, for that one.
fn service() -> Caller {
    Caller { any_tenant: true, ..newcomer() }
}

async fn a_runtime_whose_account_moved(world: World) {
    let made = world.provisioned(aws("moved")).await;
    world.landscape.running.install_agent("moved");
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let sees = async |who: &Caller| {
        let status = provisioner.runtime_status(who, id, StatusFields::NONE).await;
        let operation = provisioner.operation_status(who, &made.id).await;
        assert_eq!(status.is_ok(), operation.is_ok(), "{status:?} {operation:?}");
        status.is_ok()
    };
    let wider = |most| requests::UpgradeShoot {
        auto_scaler_max: Some(most),
        ..requests::UpgradeShoot::default()
    };

    let foreign = provisioner.upgrade_shoot(&newcomer(), id, wider(11)).await.unwrap_err();
    assert_eq!(foreign.message, format!("Cannot find Tenant for runtimeID:'{id}"));
    assert!(sees(&service()).await, "a query answers");
    assert!(sees(&caller()).await && !sees(&newcomer()).await, "and moves nothing");
    let refused = provisioner.upgrade_shoot(&service(), id, wider(0)).await;
    assert!(refused.is_err() && sees(&caller()).await, "nor does what is refused");

    let begun = provisioner.upgrade_shoot(&service(), id, wider(11)).await.unwrap();
    assert!(!sees(&caller()).await && sees(&newcomer()).await, "a change moves it");
    let journal = world.engine_journal(&begun.id).await;
    let reason = format!("the runtime moved from tenant {} to tenant {}", TENANTS[0], TENANTS[1]);
    assert_eq!(journal[0].reason, Some(reason));
    world.success_as(&newcomer(), &begun.id).await;
    let back = provisioner.reconnect_agent(&newcomer(), id).await.unwrap();
    world.success_as(&newcomer(), &back.id).await;
    let journal = world.engine_journal(&back.id).await;
    assert_eq!(journal[0].reason, None, "it is where it belongs");

    let removed = provisioner.deprovision(&newcomer(), id, false).await.unwrap();
    world.success_as(&newcomer(), &removed.id).await;

    assert!(world.env().gardener.shoot("moved").await.unwrap().is_none());
    let left = world.landscape.running.landscape.director().objects();
    assert!(
        left.is_empty(),
        "the registration goes from the tenant that it was made for: {left:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_whose_account_moved_is_changed_and_removed_under_the_new_one_on_sqlite() {
    Box::pin(a_runtime_whose_account_moved(World::sqlite().await)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_whose_account_moved_is_changed_and_removed_under_the_new_one_on_postgres() {
    Box::pin(a_runtime_whose_account_moved(World::postgres().await)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_roll_back_under_another_tenant_moves_the_runtime_too() {
    let world = World::sqlite().await;
    let made = world.provisioned(with_kyma("rolled", "1.22.0")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let newer = requests::Upgrade { kyma: Some(kyma("1.24.11")), kubernetes_version: None };
    let begun = provisioner.upgrade(&caller(), id, newer).await.unwrap();
    world.success_of(&begun.id).await;

    provisioner.roll_back_upgrade(&service(), id, StatusFields::NONE).await.unwrap();

    provisioner.runtime_status(&newcomer(), id, StatusFields::NONE).await.unwrap();
    provisioner.runtime_status(&caller(), id, StatusFields::NONE).await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subaccount_matters_when_a_runtime_is_made_and_nowhere_else() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("sub")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let other = Caller { subaccount: Some("another".into()), ..caller() };

    provisioner.runtime_status(&other, id, StatusFields::NONE).await.unwrap();
    provisioner.operation_status(&other, &made.id).await.unwrap();
    let removed = provisioner.deprovision(&other, id, false).await.unwrap();
    let ended = world.end_of(&removed.id).await;

    assert_eq!(ended.state, OperationState::Succeeded);
    let row = provisioner.parts().store.find(id.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(Some(row.subaccount), caller().subaccount);
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
