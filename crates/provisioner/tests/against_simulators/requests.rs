//! Refusals, repeated requests, and access.

use std::sync::Arc;

use futures::future::join_all;
use provisioner::{
    Caller,
    chores::abandoned_intents,
    requests,
    status::{OperationState, StatusFields},
};
use simulators::trouble::{Kind, Rule};

use crate::world::{World, aws, caller, with_kyma};

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_order_with_the_same_key_is_the_same_runtime() {
    let world = World::sqlite().await;
    let keyed = Caller { idempotency_key: Some("order-1".into()), ..caller() };

    let first = world.provisioner.provision(&keyed, aws("twice")).await.unwrap();
    let second = world.provisioner.provision(&keyed, aws("twice")).await.unwrap();
    let other = world.provisioner.provision(&keyed, aws("other")).await.unwrap_err();
    world.success_of(&first.id).await;
    let third = world.provisioner.provision(&keyed, aws("twice")).await.unwrap();

    assert_eq!((&first.id, &first.runtime_id), (&second.id, &second.runtime_id));
    assert_eq!(third.state, OperationState::Succeeded);
    assert!(other.message.contains("idempotency key"), "{other}");
    assert_eq!(registered(&world), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_orders_at_once_with_the_same_key_are_one_runtime() {
    let world = Arc::new(World::postgres().await);
    let keyed = Caller { idempotency_key: Some("order-1".into()), ..caller() };

    let orders = (0..20).map(|_| world.provisioner.provision(&keyed, aws("many")));
    let answers = join_all(orders).await;

    let ids: std::collections::BTreeSet<String> =
        answers.into_iter().map(|answer| answer.unwrap().id).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    world.success_of(ids.first().unwrap()).await;
    assert_eq!(registered(&world), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_operation_of_a_runtime_is_in_progress() {
    let world = World::sqlite().await;
    world.order("gardener", "scenario", &serde_json::json!({"scenario": "slow"}));

    let begun = world.provisioner.provision(&caller(), aws("busy")).await.unwrap();
    let refused =
        world.provisioner.deprovision(&caller(), &begun.runtime_id, false).await.unwrap_err();

    let text = format!(
        "cannot start new operation for {} Runtime while previous one is in progress",
        begun.runtime_id
    );
    assert_eq!((refused.code.number(), refused.message), (400, text));
    world.success_of(&begun.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_operations_at_once_one_begins() {
    let world = World::postgres().await;
    let made = world.provisioned(aws("race")).await;
    world.landscape.running.install_agent("race");

    let caller = caller();
    let asked = (0..20).map(|_| world.provisioner.reconnect_agent(&caller, &made.runtime_id));
    let answers = join_all(asked).await;

    let begun: Vec<_> = answers.into_iter().filter_map(Result::ok).collect();
    assert!(!begun.is_empty());
    for one in &begun {
        world.success_of(&one.id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_is_its_tenants_alone() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("mine")).await;
    let id = &made.runtime_id;
    let other = Caller { tenant: "ga-2".into(), ..caller() };
    let nobody = Caller { tenant: String::new(), ..caller() };

    let theirs = world.provisioner.runtime_status(&other, id, StatusFields::ALL).await.unwrap_err();
    let nameless = world.provisioner.operation_status(&nobody, &made.id).await.unwrap_err();

    let missing = format!("Cannot find Tenant for runtimeID:'{id}");
    assert_eq!((theirs.code.number(), theirs.message), (2, missing), "as if it did not exist");
    let theirs = world.provisioner.operation_status(&other, &made.id).await.unwrap_err();
    let unknown = made.id.replace(|digit: char| digit != '-', "7");
    let missing = world.provisioner.operation_status(&other, &unknown).await.unwrap_err();
    assert_eq!(theirs.message.replace(&made.id, ""), missing.message.replace(&unknown, ""));
    assert_eq!((theirs.code, theirs.reason), (missing.code, missing.reason));
    assert_eq!(nameless.message, "tenant header is empty");
    world.provisioner.runtime_status(&caller(), id, StatusFields::ALL).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_ids_are_told_apart_as_clients_expect() {
    let world = World::sqlite().await;
    let unknown = "5d1c0c1e-0000-4000-8000-000000000001";

    let runtime = world.provisioner.deprovision(&caller(), unknown, false).await.unwrap_err();
    let operation = world.provisioner.operation_status(&caller(), unknown).await.unwrap_err();
    let no_id =
        world.provisioner.runtime_status(&caller(), "x", StatusFields::ALL).await.unwrap_err();

    assert_eq!(runtime.message, format!("Cannot find Tenant for runtimeID:'{unknown}"));
    assert_eq!((runtime.code.number(), runtime.reason.as_str()), (2, "err_db_not_found"));
    assert_eq!(operation.code.number(), 2);
    assert_eq!((no_id.code.number(), no_id.reason.as_str()), (1, "err_db_internal"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_leaves_nothing_behind() {
    let world = World::sqlite().await;
    world.provisioned(aws("taken")).await;
    let mut small = aws("small");
    small.cluster.auto_scaler_min = Some(0);
    let unknown = with_kyma("unknown", "99.99.99");
    let taken = requests::Provision { name: "another-name".into(), ..aws("taken") };

    let name = world.provisioner.provision(&caller(), taken).await.unwrap_err();
    let size = world.provisioner.provision(&caller(), small).await.unwrap_err();
    let version = world.provisioner.provision(&caller(), unknown).await.unwrap_err();

    assert!(name.message.contains("another runtime has the name taken"), "{name}");
    assert!(size.message.contains("autoScalerMin"), "{size}");
    assert!(version.message.contains("Kyma Release 99.99.99 not found"), "{version}");
    for error in [name, size, version] {
        assert_eq!(error.code.number(), 400, "{error}");
    }
    assert_eq!(registered(&world), 1, "only the first runtime is registered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_that_the_caller_registered_keeps_its_id() {
    let world = World::sqlite().await;
    let registration = clients::director::Registration {
        name: "by-hand".into(),
        description: None,
        labels: serde_json::Map::new(),
        condition: None,
    };
    let id = world.env().director.register(&caller().tenant, &registration).await.unwrap();
    let given = |name: &str| requests::Provision { runtime_id: Some(id.clone()), ..aws(name) };

    let made = world.provisioned(given("given")).await;
    let again = world.provisioner.provision(&caller(), given("again")).await.unwrap_err();
    let other = Caller { tenant: "ga-2".into(), ..caller() };
    let foreign = world.provisioner.provision(&other, given("foreign")).await.unwrap_err();

    assert_eq!(made.runtime_id, id);
    assert!(again.message.contains("in use"), "{again}");
    assert!(foreign.message.contains("not registered"), "{foreign}");
    assert_eq!(registered(&world), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_died_after_registering_is_cleaned_up_after() {
    let world = World::sqlite().await;
    let parts = world.provisioner.parts();
    let intent = parts.store.begin_intent("ga-1", Some("k"), b"request").await.unwrap();
    let registration = clients::director::Registration {
        name: "lost".into(),
        description: None,
        labels: serde_json::Map::new(),
        condition: None,
    };
    let mark = ("kcp_intent", intent.id.to_string());
    let director = &world.env().director;
    director.register_once("ga-1", &registration, (mark.0, &mark.1), false).await.unwrap();
    assert_eq!(
        abandoned_intents::clean(&world.provisioner).await.unwrap(),
        0,
        "it may still go on"
    );

    let later = world.later(std::time::Duration::from_hours(1));
    let cleaned = abandoned_intents::clean(&later).await.unwrap();

    assert_eq!(cleaned, 1);
    assert_eq!(registered(&world), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_cleaned_up_after_whatever_hundred_older_ones_fail() {
    let world = World::sqlite().await;
    let store = &world.provisioner.parts().store;
    for _ in 0..100 {
        store.begin_intent("ga-1", None, b"request").await.unwrap();
    }
    let registration = clients::director::Registration {
        name: "lost".into(),
        description: None,
        labels: serde_json::Map::new(),
        condition: None,
    };
    let id = world.env().director.register("ga-1", &registration).await.unwrap();
    store.note_orphan("ga-1", id.parse().unwrap()).await.unwrap();
    let refused = Kind::Status { status: 400, body: None };
    let rule = Rule::next(100, refused).of("director").holding(LOOKS);
    world.landscape.running.landscape.troubles().add(rule).unwrap();

    let cleaned = abandoned_intents::clean(&world.later(std::time::Duration::from_hours(1))).await;

    assert_eq!(cleaned.unwrap(), 1);
    assert_eq!(registered(&world), 0);
}

const LOST: Kind = Kind::LostAnswer { status: None };
const BUSY: Kind = Kind::Status { status: 429, body: None };
/// Texts in the bodies of calls of the Director.
const REGISTERS: &str = "registerRuntime";
const LOOKS: &str = "LabelFilter";

/// The next call of the Director with this text in it meets trouble.
fn meets(world: &World, text: &str, trouble: Kind) {
    let rule = Rule::next(1, trouble).of("director").holding(text);
    world.landscape.running.landscape.troubles().add(rule).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_whose_answer_was_lost_is_found_by_the_same_request_whatever_fails_meanwhile()
 {
    let world = World::sqlite().await;
    let nothing = Kind::Malformed { body: Some(r#"{"data":{"result":{"data":[]}}}"#.into()) };
    let table = [
        ("looked-up", vec![(REGISTERS, LOST), (LOOKS, BUSY)], vec![]),
        ("looked-up-again", vec![(REGISTERS, LOST), (LOOKS, BUSY)], vec![(LOOKS, BUSY)]),
        ("gateway", vec![(REGISTERS, Kind::LostAnswer { status: Some(500) })], vec![]),
        ("late", vec![(REGISTERS, LOST), (LOOKS, BUSY)], vec![(LOOKS, nothing.clone())]),
        (
            "late-and-busy",
            vec![(REGISTERS, LOST), (LOOKS, BUSY)],
            vec![(LOOKS, nothing), (REGISTERS, BUSY)],
        ),
    ];

    for (at, (name, first, second)) in table.into_iter().enumerate() {
        let mut ends = Vec::new();
        for troubles in [first, second] {
            for (text, trouble) in troubles {
                meets(&world, text, trouble);
            }
            ends.push(world.provisioner.provision(&caller(), aws(name)).await);
        }
        let third = world.provisioner.provision(&caller(), aws(name)).await;

        assert!(ends[0].is_err(), "{name}");
        let third = third.unwrap_or_else(|error| panic!("{name}: {error}"));
        world.success_of(&third.id).await;
        assert_eq!(registered(&world), at + 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_is_found_again_after_a_director_that_was_left_alone() {
    let world = World::sqlite().await;
    world.trouble("director", 4, Kind::Status { status: 500, body: None });
    for _ in 0..4 {
        let missing = "5d1c0c1e-0000-4000-8000-000000000001";
        world.env().director.runtime(&caller().tenant, missing).await.unwrap_err();
    }
    meets(&world, REGISTERS, LOST);

    let refused = world.provisioner.provision(&caller(), aws("paused")).await.unwrap_err();
    let calls = world.calls("director");
    world.until(async || world.provisioner.provision(&caller(), aws("paused")).await.is_ok()).await;

    assert!(refused.message.contains("its last calls failed"), "{refused}");
    assert!(world.calls("director") > calls);
    assert_eq!(registered(&world), 1);
}

fn registered(world: &World) -> usize {
    use simulators::system::System;
    world.landscape.running.landscape.director().objects().len()
}
