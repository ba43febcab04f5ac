//! Runtimes whose account moves, and requests that say it in the old words.

use provisioner::{
    Caller, requests,
    status::{OperationState, StatusFields},
};
use simulators::{system::System, testing::TENANTS};

use crate::world::{World, aws, caller, kyma, with_kyma};

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
