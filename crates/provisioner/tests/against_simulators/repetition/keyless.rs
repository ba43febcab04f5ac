//! Orders without a key that are repeated, and orders whose account is gone.

use clients::director::Registration;
use simulators::system::System;

use super::keyed;
use crate::world::{World, aws, caller};

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
