//! What holds for each of the four: kept over a kill, the same from the same seed, every trouble, no secret on disk.

use std::fs;

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Cut, Kind, Rule},
};

use super::{aws, azure, cis, reconciler::apply};
use crate::world::{World, json, status};

const SYSTEMS: [&str; 4] = ["reconciler", "cis", "azure", "aws"];

/// A call of each system that works and changes something, where callers can.
async fn call(world: &World, system: &str) -> RequestBuilder {
    match system {
        "reconciler" => apply(world, "r-1"),
        "cis" => cis::get(world, "/events/v2/events/central"),
        "azure" => {
            let path = "/subscriptions/sub-1/resourcegroups/g?api-version=2019-05-01";
            let token = azure::token(world).await;
            azure::call(world, "PUT", path, &token).json(&json!({"location": "west"}))
        }
        _ => aws::call(world, "eu-west-1", &[("Action", "DeleteVolume"), ("VolumeId", "vol-1")]),
    }
}

async fn prepared() -> World {
    let world = World::new().await;
    let orders = [
        ("cis", "create-subaccount", json!({"id": "sa"})),
        ("aws", "add-volume", json!({"key": "AKIA", "id": "vol-1", "region": "eu-west-1"})),
    ];
    for (system, order, with) in orders {
        let order = world.control("POST", &format!("/systems/{system}/orders/{order}"));
        assert_eq!(status(order.json(&with)).await, 204);
    }
    world
}

async fn objects(world: &World, system: &str) -> Value {
    json(world.control("GET", &format!("/systems/{system}/objects"))).await
}

#[tokio::test]
async fn every_system_is_listed_and_forgets_on_request() {
    let world = prepared().await;
    for system in SYSTEMS {
        assert_eq!(status(call(&world, system).await).await, 200 + u16::from(system == "azure"));
        let shown = json(world.control("GET", &format!("/systems/{system}"))).await;
        assert_eq!(
            (&shown["health"], &shown["base"]),
            (&json!("up"), &json!(format!("/{system}")))
        );
        assert!(
            !objects(&world, system).await["objects"].as_array().unwrap().is_empty(),
            "{system}"
        );

        assert_eq!(status(world.control("POST", &format!("/systems/{system}/reset"))).await, 204);

        assert_eq!(objects(&world, system).await, json!({"objects": []}), "{system}");
        let unknown = world.control("POST", &format!("/systems/{system}/orders/dance"));
        assert_eq!(status(unknown.json(&json!({}))).await, 404);
    }
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_kill() {
    let world = prepared().await;
    let mut before = Vec::new();
    for system in SYSTEMS {
        json_or_xml(call(&world, system).await).await;
        before.push(objects(&world, system).await);
    }

    let world = world.reopened().await;

    for (system, before) in SYSTEMS.into_iter().zip(before) {
        assert_eq!(objects(&world, system).await, before, "{system}");
    }
}

async fn json_or_xml(request: RequestBuilder) -> String {
    request.send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn the_same_calls_leave_the_same_things() {
    let mut worlds = Vec::new();
    for _ in 0..2 {
        let world = prepared().await;
        let mut kept = Vec::new();
        for system in SYSTEMS {
            json_or_xml(call(&world, system).await).await;
            world.clock.advance(std::time::Duration::from_secs(1));
            kept.push(objects(&world, system).await);
        }
        let rounds = world.http.get(format!("{}/reconciler/v1/reconciliations", world.url));
        kept.push(json(rounds).await);
        worlds.push(kept);
    }

    assert_eq!(worlds[0], worlds[1]);
}

#[tokio::test]
async fn every_trouble_works_on_every_system() {
    let kinds = [
        (Kind::Down { refuse: false }, Some(503), false),
        (Kind::Busy { retry_after_seconds: 3, as_date: false }, Some(429), false),
        (Kind::Status { status: 502, body: None }, Some(502), false),
        (Kind::Reset { when: Cut::BeforeHeaders }, None, false),
        (Kind::Reset { when: Cut::AfterHeaders }, None, true),
        (Kind::LostAnswer { status: None }, None, true),
        (Kind::LostAnswer { status: Some(504) }, Some(504), true),
        (Kind::Truncated, None, true),
        (Kind::Phantom, Some(200), false),
    ];

    for (kind, answered, applied) in kinds {
        let world = prepared().await;
        for system in SYSTEMS {
            let request = call(&world, system).await;
            let before = world.landscape.ledger().sums(system).applied;
            world.trouble(Rule::next(1, kind.clone()).of(system));
            let answer = request.send().await;
            let status = match answer {
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    answer.text().await.ok().map(|_| status)
                }
                Err(_) => None,
            };

            let name = format!("{system} {kind:?}");
            // Phantom success comes with the status of success.
            let wanted = answered.map(|it| it + u16::from(it == 200 && system == "azure"));
            assert_eq!(status, wanted, "{name}");
            let changes = world.landscape.ledger().sums(system).applied - before;
            assert_eq!(changes > 0, applied && system != "cis", "{name}");
            let filter = Filter {
                system: Some(system.into()),
                phase: Some(Phase::Received),
                ..Filter::default()
            };
            let last = world.landscape.ledger().all(&filter).unwrap().pop().unwrap();
            assert_eq!(last.trouble.as_deref(), Some(kind.name()), "{name}");
        }
    }
}

#[tokio::test]
async fn delivered_twice_it_is_there_once() {
    let world = prepared().await;

    for (system, kind) in [("reconciler", "cluster"), ("azure", "group")] {
        let request = call(&world, system).await;
        world.trouble(Rule::next(1, Kind::Duplicate).of(system));
        json_or_xml(request).await;

        let path = format!("/systems/{system}/objects?kind={kind}");
        let objects = json(world.control("GET", &path)).await;
        assert_eq!(objects["objects"].as_array().unwrap().len(), 1, "{system}");
    }
}

#[tokio::test]
async fn no_secret_reaches_the_disk() {
    let world = prepared().await;
    for system in SYSTEMS {
        json_or_xml(call(&world, system).await).await;
    }
    let with =
        json!({"subscription": "s", "tenant": "t", "client": "c", "secret": "s3cret-client"});
    let order = world.control("POST", "/systems/azure/orders/add-subscription");
    assert_eq!(status(order.json(&with)).await, 204);
    let token = azure::token(&prepared().await).await;
    assert!(!token.is_empty());

    world
        .reopened_after(|folder| {
            for file in fs::read_dir(folder).unwrap() {
                let path = file.unwrap().path();
                // The clusters have a folder of their own, and tests of their own.
                if path.is_dir() {
                    continue;
                }
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                for secret in ["s3cret-value", "s3cret-kubeconfig", "s3cret-client"] {
                    assert!(!text.contains(secret), "{secret} is in {}", path.display());
                }
            }
        })
        .await;
}
