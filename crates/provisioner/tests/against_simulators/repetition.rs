//! Requests that are repeated: with a key, without one, and with a key that was used for something else.

use clients::director::Registration;
use provisioner::{Caller, requests, status::OperationState};
use simulators::system::System;

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
async fn an_order_without_a_key_that_is_repeated_is_the_same_runtime_until_it_is_gone() {
    let world = World::postgres().await;

    let first = world.provisioner.provision(&caller(), aws("lost")).await.unwrap();
    let second = world.provisioner.provision(&caller(), aws("lost")).await.unwrap();
    let mut larger = aws("lost");
    larger.cluster.auto_scaler_max = Some(11);
    let other = world.provisioner.provision(&caller(), larger).await.unwrap_err();
    world.success_of(&first.id).await;
    let id = &first.runtime_id;
    let removed = world.provisioner.deprovision(&caller(), id, false).await.unwrap();
    world.success_of(&removed.id).await;
    let third = world.provisioner.provision(&caller(), aws("lost")).await.unwrap();
    world.success_of(&third.id).await;

    assert_eq!((&first.id, &first.runtime_id), (&second.id, &second.runtime_id));
    assert_eq!(other.code.number(), 400, "{other}");
    assert_ne!(third.runtime_id, first.runtime_id);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_without_a_key_goes_on_where_the_one_before_it_died() {
    let world = World::sqlite().await;
    let parts = world.provisioner.parts();
    let request = aws("died");
    let asked = serde_json::to_vec(&request).unwrap();
    let key = parts.store.content_key(&[b"sa-1\n", asked.as_slice()].concat());
    let intent = parts.store.begin_intent("ga-1", Some(&key), &asked).await.unwrap();
    let registration = Registration {
        name: request.name.clone(),
        description: None,
        labels: serde_json::Map::new(),
        condition: None,
    };
    let mark = ("kcp_intent", intent.id.to_string());
    let director = &world.env().director;
    let id = director.register_once("ga-1", &registration, (mark.0, &mark.1), false).await.unwrap();

    let begun = world.provisioner.provision(&caller(), request).await.unwrap();

    assert_eq!(begun.runtime_id, id);
    world.success_of(&begun.id).await;
    assert_eq!(world.landscape.running.landscape.director().objects().len(), 1);
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

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_free_again_when_the_order_was_refused_for_its_account() {
    let world = World::sqlite().await;
    let mut wrong = aws("free");
    wrong.cluster.target_secret = "no-such-binding".into();

    let refused = world.provisioner.provision(&keyed("k"), wrong).await.unwrap_err();
    let begun = world.provisioner.provision(&keyed("k"), aws("free")).await.unwrap();

    assert!(refused.message.contains("no-such-binding"), "{refused}");
    world.success_of(&begun.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_has_begun_is_not_forgotten_when_its_account_is_gone() {
    let world = World::sqlite().await;
    let store = &world.provisioner.parts().store;
    let mut request = aws("gone");
    request.cluster.target_secret = "no-such-binding".into();
    let asked = serde_json::to_vec(&request).unwrap();
    let begun = store.begin_intent("ga-1", Some("k"), &asked).await.unwrap();

    let refused = world.provisioner.provision(&keyed("k"), request).await.unwrap_err();

    assert!(refused.message.contains("no-such-binding"), "{refused}");
    let found = store.begin_intent("ga-1", Some("k"), &asked).await.unwrap();
    assert_eq!((found.id, found.new), (begun.id, false));
}
