//! Failures anywhere: one call in thirty, and the death of a replica.

use provisioner::Caller;
use simulators::system::System;

use crate::world::{World, caller, with_kyma};

#[tokio::test(flavor = "multi_thread")]
async fn one_call_in_thirty_failing_everywhere_changes_nothing_in_the_end() {
    let world = World::sqlite().await;
    for system in ["gardener", "director", "runtimes"] {
        world.unrest(system, 0.033);
    }
    let mut begun = Vec::new();
    for at in 0..5 {
        let keyed = Caller { idempotency_key: Some(format!("k-{at}")), ..caller() };
        let request = || with_kyma(&format!("rough-{at}"), "1.22.0");
        let accepted = loop {
            match world.provisioner.provision(&keyed, request()).await {
                Ok(accepted) => break accepted,
                Err(error) => assert!(!(400..500).contains(&error.code.number()), "{error:?}"),
            }
        };
        begun.push(accepted);
    }

    for one in &begun {
        world.success_of(&one.id).await;
    }
    for one in &begun {
        let removed =
            world.provisioner.deprovision(&caller(), &one.runtime_id, false).await.unwrap();
        world.success_of(&removed.id).await;
    }
    world.calm();
    assert!(world.env().gardener.shoots("").await.unwrap().is_empty());
    assert!(world.landscape.running.landscape.director().objects().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_replica_goes_on_where_one_was_killed() {
    let mut world = World::postgres().await;
    let other = world.another().await;
    let mut begun = Vec::new();
    for at in 0..10 {
        let request = with_kyma(&format!("r-{at}"), "1.22.0");
        begun.push(world.provisioner.provision(&caller(), request).await.unwrap());
    }

    world.engine.kill();

    world.provisioner = other.clone();
    world.engine = other.parts().engine.clone();
    for one in &begun {
        world.success_of(&one.id).await;
    }
    assert_eq!(world.landscape.running.landscape.director().objects().len(), 10);
}
