//! Repairs after failed changes.

mod failures;
mod refusals;
mod removals;
mod retries;

use provisioner::{
    requests,
    status::{OperationState, StatusFields},
};
use serde_json::{Value, json};

use crate::world::{World, aws, caller, kyma, with_kyma};

const SCENARIO: &str = "landscape.kcp.dev/scenario";

async fn scenario(world: &World, shoot: &str, scenario: Value) {
    let patch = json!({"metadata": {"annotations": {SCENARIO: scenario}}});
    world.env().gardener.merge(shoot, &patch).await.unwrap();
}

fn wider(most: i32) -> requests::UpgradeShoot {
    requests::UpgradeShoot { auto_scaler_max: Some(most), ..requests::UpgradeShoot::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_that_gardener_refuses_are_not_stored_and_the_next_upgrade_works() {
    let world = World::sqlite().await;
    let mut request = with_kyma("both", "1.22.0");
    request.cluster.kubernetes_version = Some("1.30.0".into());
    let made = world.provisioned(request).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let both = |version: &str| requests::Upgrade {
        kyma: Some(kyma("1.24.11")),
        kubernetes_version: Some(version.into()),
    };

    let begun = provisioner.upgrade(&caller(), id, both("1.33.0")).await.unwrap();
    let failed = world.end_of(&begun.id).await;
    let refused = provisioner.runtime_status(&caller(), id, StatusFields::NONE).await.unwrap();
    let unchanged = provisioner.roll_back_upgrade(&caller(), id, StatusFields::NONE).await.unwrap();
    let begun = provisioner.upgrade(&caller(), id, both("1.31.0")).await.unwrap();
    world.success_of(&begun.id).await;
    let upgraded = provisioner.runtime_status(&caller(), id, StatusFields::NONE).await.unwrap();
    let taken_back =
        provisioner.roll_back_upgrade(&caller(), id, StatusFields::NONE).await.unwrap();

    assert_eq!(failed.state, OperationState::Failed, "{failed:?}");
    let versions = |status: &provisioner::status::RuntimeStatus| {
        let configuration = &status.configuration;
        let kyma = configuration.kyma.as_ref().unwrap();
        (configuration.cluster.kubernetes_version.clone(), kyma.version.clone())
    };
    let are = |kubernetes: &str, kyma: &str| (kubernetes.to_owned(), kyma.to_owned());
    assert_eq!(versions(&refused), are("1.30.0", "1.22.0"));
    assert_eq!(versions(&unchanged), are("1.30.0", "1.22.0"));
    assert_eq!(versions(&upgraded), are("1.31.0", "1.24.11"));
    assert_eq!(versions(&taken_back), are("1.31.0", "1.22.0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_change_again_makes_gardener_try_again() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("heal")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    scenario(&world, "heal", json!("fail=ERR_INFRA_QUOTA_EXCEEDED@40")).await;

    let begun = provisioner.upgrade_shoot(&caller(), id, wider(31)).await.unwrap();
    let failed = world.end_of(&begun.id).await;
    scenario(&world, "heal", Value::Null).await;
    let again = provisioner.upgrade_shoot(&caller(), id, wider(31)).await.unwrap();
    world.success_of(&again.id).await;
    let generation = async || {
        let shoot = world.env().gardener.shoot("heal").await.unwrap().unwrap();
        shoot.metadata.generation.unwrap()
    };
    let before = generation().await;
    let nothing = requests::UpgradeShoot {
        administrators: vec!["ada@example.org".into()],
        ..requests::UpgradeShoot::default()
    };
    let empty = provisioner.upgrade_shoot(&caller(), id, nothing).await.unwrap();
    world.success_of(&empty.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    assert!(generation().await > before, "a change of nothing makes Gardener reconcile too");
}
