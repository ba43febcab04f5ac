//! The `ConfigMap` with the issuers of a cluster's users: when it changes, what stays in it, and who is not held up by it.

mod kept;

use std::time::Duration;

use engine::storage::{Entry, Outcome};
use provisioner::{limits::StageLimits, requests::UpgradeShoot, status::OperationState};
use serde_json::{Value, json};
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Kind, Rule},
};
use store::testing::TestDatabase;

use crate::{
    gardens::{NAMESPACE, config_map, log_in, with_issuer},
    world::{World, caller, issuer},
};

const STEP: &str = "Remove_Authentication";
const MAPS: &str = "*/configmaps/kcp-oidc-*";

/// A `Status` of the API server.
fn answer(status: u16, reason: &str, message: &str) -> Kind {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
        "reason": reason, "message": message,
    });
    Kind::Status { status, body: Some(body.to_string()) }
}

/// What RBAC says.
fn forbidden() -> Kind {
    let text = r#"configmaps "x" is forbidden: User "kcp" cannot get resource "configmaps" in API group """#;
    answer(403, "Forbidden", text)
}

/// From now on calls with this method and path are answered so.
fn always(world: &World, trouble: Kind, method: &str, path: &str) {
    let rule = Rule::next(1_000_000, trouble).of("gardener").on(method, path);
    world.landscape.running.landscape.troubles().add(rule).unwrap();
}

/// Another client of the landscape's issuer.
fn another_client(world: &World) -> UpgradeShoot {
    let mut other = issuer(&world.landscape);
    other.client_id = "another".into();
    UpgradeShoot { oidc: Some(other), ..UpgradeShoot::default() }
}

/// The entries of a runtime's `ConfigMap`.
fn entries(world: &World, runtime: &str) -> Vec<Value> {
    let map = config_map(world, runtime).unwrap();
    let written = cluster::read_yaml(map["data"]["config.yaml"].as_str().unwrap()).unwrap();
    written["jwt"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_is_not_held_up_by_a_config_map_that_it_cannot_remove() {
    let limits = StageLimits { cluster_cleanup: Duration::from_secs(1), ..StageLimits::default() };
    let world = World::on(TestDatabase::sqlite(), limits).await;
    let table = [
        ("1.32.4", forbidden(), true),
        ("1.32.4", Kind::Down { refuse: false }, true),
        // Its issuer was in the Shoot: an account that may not read ConfigMaps has left nothing.
        ("1.31.4", forbidden(), false),
    ];

    for (at, (kubernetes, trouble, is_left)) in table.into_iter().enumerate() {
        let made = world.provisioned(with_issuer(&world, &format!("held-{at}"), kubernetes)).await;
        always(&world, trouble, "GET", MAPS);

        let id = &made.runtime_id;
        let removed = world.provisioner.deprovision(&caller(), id, false).await.unwrap();
        world.success_of(&removed.id).await;
        world.calm();

        let journal = world.engine_journal(&removed.id).await;
        let gave_up = |run: &&Entry| run.outcome == Some(Outcome::GivenUp);
        let given_up: Vec<_> =
            journal.iter().filter(gave_up).filter_map(|run| run.step.as_deref()).collect();
        assert_eq!(given_up, if is_left { vec![STEP] } else { vec![] }, "row {at}");
        assert_eq!(config_map(&world, id).is_some(), is_left, "row {at}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_garden_without_structured_authentication_is_asked_for_no_config_map() {
    let world = World::playing("1.65").await;
    let made = world.provisioned(with_issuer(&world, "plain", "1.32.4")).await;

    let removed = world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();
    world.success_of(&removed.id).await;

    let all = world.landscape.running.landscape.ledger().all(&Filter::default()).unwrap();
    assert!(!all.iter().any(|one| one.about.route.contains("kcp-oidc-")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_gardener_refuses_leaves_the_issuers_as_they_were() {
    let world = World::playing("1.117").await;
    let made = world.provisioned(with_issuer(&world, "kept", "1.32.4")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let before = config_map(&world, id);
    let refusal = answer(422, "Invalid", "Shoot \"kept\" is invalid: spec.foo");
    always(&world, refusal, "PATCH", "*/shoots/kept");

    let change = another_client(&world);
    let begun = provisioner.upgrade_shoot(&caller(), id, change).await.unwrap();
    let failed = world.end_of(&begun.id).await;
    world.calm();

    assert_eq!(failed.state, OperationState::Failed);
    assert_eq!(config_map(&world, id), before);
    log_in(&world, "kept", "kcp").await.unwrap();

    let again = provisioner.upgrade_shoot(&caller(), id, another_client(&world)).await.unwrap();
    world.success_of(&again.id).await;

    log_in(&world, "kept", "another").await.unwrap();
    let all = world.landscape.running.landscape.ledger().all(&Filter::default()).unwrap();
    let applied = all.iter().filter(|one| one.phase == Phase::Applied);
    let patches =
        applied.filter(|one| one.about.system == "gardener" && one.about.method == "PATCH");
    let objects: Vec<_> = patches.filter_map(|one| one.object.as_deref()).collect();
    let last = objects.last_chunk::<3>().unwrap();
    // Accepted, changed, and reconciled with what was changed.
    assert!(last[0].contains("shoots/") && last[2].contains("shoots/"), "{last:?}");
    assert!(last[1].contains("configmaps/"), "{last:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_admission_says_about_a_config_map_is_final_too() {
    let world = World::playing("1.117").await;
    let text = r#"admission webhook "policy.example.org" denied the request: no ConfigMaps here"#;
    let maps = format!("*/namespaces/{NAMESPACE}/configmaps");
    always(&world, answer(403, "Forbidden", text), "POST", &maps);

    let order = with_issuer(&world, "denied", "1.32.4");
    let begun = world.provisioner.provision(&caller(), order).await.unwrap();
    let failed = world.end_of(&begun.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    assert!(failed.message.contains("denied the request"), "{}", failed.message);
    assert_eq!(failed.errors.len(), 1, "it was not tried again: {:?}", failed.errors);
}
