//! Calls that are called off: the connection is freed, the turn is free, nothing is half done (C11).

use std::time::Duration;

use clients::{CallLimits, director::Director, gardener::Gardener};
use simulators::trouble::{self, Rule};

use crate::{
    garden::{Garden, shoot},
    world::{TENANT, World},
};

#[tokio::test]
async fn dropping_a_call_frees_its_connection_and_its_turn() {
    let mut world = World::new().await;
    let limits = CallLimits { at_once: 1, call: Duration::from_secs(60), ..CallLimits::DEFAULT };
    let tokens = world.tokens();
    tokens.token().await.unwrap();
    let director = Director::new(world.http(limits).with_token(tokens));
    let before = *world.running.open.borrow();
    world.troubles().add(Rule::next(1, trouble::Kind::Silent).of("director")).unwrap();
    let mut lines = world.running.landscape.ledger().last();
    let seen = *lines.borrow();

    let calling = director.clone();
    let call = tokio::spawn(async move { calling.unregister(TENANT, "r").await });
    lines.wait_for(|last| *last > seen).await.unwrap();
    assert_eq!(*world.running.open.borrow(), before + 1);
    call.abort();

    world.running.open.wait_for(|open| *open == before).await.unwrap();
    assert!(director.runtime(TENANT, "r").await.is_ok(), "the one turn is free");
    assert!(world.applied("director").is_empty());
}

#[tokio::test]
async fn dropping_a_call_to_a_cluster_hangs_up() {
    let garden = Garden::start().await;
    let limits = CallLimits { at_once: 1, call: Duration::from_secs(60), ..CallLimits::CLUSTER };
    let gardener = Gardener::new(garden.cluster("garden", limits).await, "kyma", "kcp");
    garden.troubles.add(Rule::next(1, trouble::Kind::Silent)).unwrap();
    let mut lines = garden.ledger.last();

    let calling = gardener.clone();
    let call = tokio::spawn(async move { calling.create(&shoot("c-1", "r-1")).await });
    lines.wait_for(|last| *last == 1).await.unwrap();
    call.abort();

    // The second line says that the answer was lost: nobody is listening any more.
    lines.wait_for(|last| *last == 2).await.unwrap();
    assert_eq!(garden.ledger.sums("clusters").lost, 1);
    assert!(gardener.shoot("c-1").await.unwrap().is_none(), "the one turn is free");
}
