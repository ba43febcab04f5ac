//! What a garden has, and how often it is asked: bindings of accounts, and its description.

use std::{pin::pin, time::Duration};

use base::Clock;
use provisioner::{chores::garden_features, requests::UpgradeShoot};
use serde_json::{Value, json};
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Kind, Rule},
};

use super::{NAMESPACE, config_map, spec, with_issuer};
use crate::world::{World, caller};

#[tokio::test(flavor = "multi_thread")]
async fn an_account_may_be_a_credentials_binding_alone() {
    let world = World::playing("1.117").await;
    let server = world.landscape.running.clusters().server();
    let older = "secretbindings.core.gardener.cloud";
    assert!(server.remove("garden", older, NAMESPACE, "aws-free-1").unwrap());

    let made = world.provisioned(with_issuer(&world, "newer", "1.31.4")).await;

    let found = spec(&world, "newer").await;
    assert_eq!(found["credentialsBindingName"], "aws-free-1");
    assert_eq!(found["secretBindingName"], Value::Null);
    let change = UpgradeShoot { auto_scaler_max: Some(7), ..UpgradeShoot::default() };
    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, change).await.unwrap();
    world.success_of(&begun.id).await;
    let removed = world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();
    world.success_of(&removed.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_garden_may_have_no_secret_bindings_or_show_none() {
    for (status, name, binding) in
        [(404, "kindless", "credentialsBindingName"), (403, "hidden", "secretBindingName")]
    {
        let world = World::playing("1.117").await;
        let answer = Kind::Status { status, body: None };
        let rule =
            Rule::next(1_000, answer).of("gardener").on("GET", "*/secretbindings/aws-free-1");
        world.landscape.running.landscape.troubles().add(rule).unwrap();

        world.provisioned(with_issuer(&world, name, "1.31.4")).await;

        assert_eq!(spec(&world, name).await[binding], "aws-free-1", "{status}");
    }
}

/// How often the garden was asked for the fields of its Shoots.
fn descriptions(world: &World) -> usize {
    let all = world.landscape.running.landscape.ledger().all(&Filter::default()).unwrap();
    all.iter()
        .filter(|one| one.phase == Phase::Received)
        .filter(|one| one.about.route.contains("/openapi/v3/apis/core.gardener.cloud/v1beta1"))
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_garden_is_described_before_a_step_asks_and_again_after_five_minutes() {
    let world = World::sqlite().await;
    let gardener = &world.env().gardener;
    let held = Clock::held_at(world.landscape.clock.now());
    let mut chore = pin!(garden_features::keep(gardener.clone(), held.clone()));

    // As a step asks: it gets what the chore reads.
    let features = tokio::select! {
        biased;
        () = &mut chore => unreachable!("it goes on until it is dropped"),
        features = gardener.features() => features.unwrap(),
    };
    assert!(features.version().is_some());
    assert_eq!(descriptions(&world), 1);

    held.advance(Duration::from_mins(5));
    tokio::select! {
        biased;
        () = &mut chore => unreachable!("it goes on until it is dropped"),
        () = world.until(async || descriptions(&world) == 2) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_map_of_somebody_else_is_neither_changed_nor_removed() {
    let world = World::sqlite().await;
    let made = world.provisioned(with_issuer(&world, "foreign", "1.32.4")).await;
    let server = world.landscape.running.clusters().server();
    let mut map = config_map(&world, &made.runtime_id).unwrap();
    map["metadata"] = json!({
        "name": map["metadata"]["name"], "namespace": NAMESPACE,
        "labels": {"kcp.provisioner.kyma-project.io/runtime-id": "another"},
    });
    server.apply("garden", "somebody", &map).unwrap();

    let change = UpgradeShoot { auto_scaler_max: Some(20), ..UpgradeShoot::default() };
    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, change).await.unwrap();
    let failed = world.end_of(&begun.id).await;

    assert_eq!(failed.state, provisioner::status::OperationState::Failed);
    let said = failed.last_error.unwrap().message;
    assert!(said.contains("it is not the one of this runtime"), "{said}");
    let removed = world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();
    world.success_of(&removed.id).await;
    assert!(config_map(&world, &made.runtime_id).is_some());
}
