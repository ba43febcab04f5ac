//! Bindings that have expired are removed; those whose runtime cannot be reached stay, and are tried again.

use std::time::Duration;

use base::Clock;
use broker::jobs::Settings;
use store::{
    BrokerStore,
    broker::{BeginBinding, NewBinding},
};
use uuid::Uuid;

use crate::world::World;

/// A binding of an instance for this runtime, which has expired.
pub(crate) async fn expired(world: &World, instance: &str, runtime: Uuid) {
    expire(&world.store, &world.clock, instance, runtime).await;
}

/// The same, in this database.
pub(crate) async fn expire(store: &BrokerStore, clock: &Clock, instance: &str, runtime: Uuid) {
    let lifetime = Duration::from_secs(600);
    let new = NewBinding { instance, binding: "b-1", runtime, lifetime, predecessor: None };
    let hold = Duration::from_secs(120);
    let begun = store.begin_binding(&new, 10, hold).await.unwrap();
    let BeginBinding::Begun(attempt) = begun else { panic!("{begun:?}") };
    let until = clock.now() - Duration::from_secs(1);
    assert!(store.finish_binding(attempt, b"token: x", until).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_bindings_are_removed_and_those_that_cannot_be_removed_are_told() {
    for world in World::both(Settings::default).await {
        let (old, new) = (Uuid::from_u128(7), Uuid::from_u128(8));
        world.made(1, "moved", Some(old)).await;
        expired(&world, "moved", old).await;
        // With the runtime goes everything in it; this instance has another one by now.
        world.moved("moved", new).await;
        world.made(1, "there", Some(old)).await;
        expired(&world, "there", old).await;

        assert_eq!(world.counts("binding-cleanup", true).await, [2, 2, 0, 0]);
        let run = world.run("binding-cleanup", false).await;

        assert_eq!((run.report.done, run.report.failed), (1, 1), "{:?}", run.report);
        assert!(world.store.find_binding("moved", "b-1").await.unwrap().is_none());
        assert!(world.store.find_binding("there", "b-1").await.unwrap().is_some());
        let told = run.report.details.iter().find(|it| it.item == "there/b-1").unwrap();
        assert!(told.text.contains("there"), "{told:?}");
        assert_eq!(world.counts("binding-cleanup", false).await, [0, 0, 0, 0], "it is due later");
    }
}
