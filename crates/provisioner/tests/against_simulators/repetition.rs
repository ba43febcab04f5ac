//! Requests that are repeated with a key.

mod keyless;

use provisioner::{Caller, requests, status::OperationState};

use crate::world::{World, aws, caller, kyma, with_kyma};

fn keyed(key: &str) -> Caller {
    Caller { idempotency_key: Some(key.into()), ..caller() }
}

fn wider(most: i32) -> requests::UpgradeShoot {
    requests::UpgradeShoot { auto_scaler_max: Some(most), ..requests::UpgradeShoot::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_stands_for_one_request_of_a_mutation() {
    let world = World::sqlite().await;
    let made = world.provisioned(with_kyma("keys", "1.22.0")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let (caller, kyma) = (keyed("k"), |version| requests::Upgrade {
        kyma: Some(kyma(version)),
        ..Default::default()
    });

    let first = provisioner.upgrade_shoot(&caller, id, wider(31)).await.unwrap();
    world.success_of(&first.id).await;
    let other = provisioner.upgrade_shoot(&caller, id, wider(44)).await.unwrap_err();
    let again = provisioner.upgrade_shoot(&caller, id, wider(31)).await.unwrap();
    let upgraded = provisioner.upgrade(&caller, id, kyma("1.24.11")).await.unwrap();
    let while_it_runs = provisioner.upgrade(&caller, id, kyma("1.22.0")).await.unwrap_err();
    world.success_of(&upgraded.id).await;

    for refused in [other, while_it_runs] {
        assert_eq!(refused.code.number(), 400);
        assert!(refused.message.contains("idempotency key was used for another"), "{refused}");
    }
    assert_eq!((again.id, again.state), (first.id.clone(), OperationState::Succeeded));
    assert_ne!(upgraded.id, first.id, "a key counts for one mutation");
    let shoot = world.env().gardener.shoot("keys").await.unwrap().unwrap();
    assert_eq!(crate::life::worker(&shoot)["maximum"], 31);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_stands_for_an_order_in_one_subaccount() {
    let world = World::sqlite().await;
    let order = async |subaccount: Option<&str>| {
        let caller = Caller { subaccount: subaccount.map(str::to_owned), ..keyed("k") };
        world.provisioner.provision(&caller, aws("subs")).await
    };

    let first = order(Some("sa-1")).await.unwrap();
    let again = order(Some("sa-1")).await.unwrap();
    let others = [order(Some("sa-2")).await.unwrap_err(), order(None).await.unwrap_err()];

    assert_eq!(again.id, first.id);
    for refused in others {
        assert!(refused.message.contains("idempotency key was used for another"), "{refused}");
    }
    world.success_of(&first.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_for_two_mutations_begins_two_operations() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("pair")).await;
    world.landscape.running.install_agent("pair");
    let id = &made.runtime_id;

    let first = world.provisioner.reconnect_agent(&keyed("k"), id).await.unwrap();
    world.success_of(&first.id).await;
    let second = world.provisioner.hibernate(&keyed("k"), id).await.unwrap();
    world.success_of(&second.id).await;

    assert_ne!(first.id, second.id);
    let asleep = world.env().gardener.shoot("pair").await.unwrap().unwrap();
    assert!(asleep.is_asleep());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_stands_for_its_order_even_when_the_runtime_is_gone() {
    let world = World::sqlite().await;
    let order = async || world.provisioner.provision(&keyed("k"), aws("once")).await.unwrap();

    let first = order().await;
    world.success_of(&first.id).await;
    let removed = world.provisioner.deprovision(&caller(), &first.runtime_id, false).await.unwrap();
    world.success_of(&removed.id).await;
    let again = order().await;

    assert_eq!((again.id, again.state), (first.id, OperationState::Succeeded));
    assert!(world.env().gardener.shoot("once").await.unwrap().is_none(), "none is made again");
}
