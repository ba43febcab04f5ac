//! What holds for each of the four in trouble, and that none writes a secret to the disk.

use std::fs;

use serde_json::json;
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Cut, Kind, Rule},
};

use super::{super::azure, SYSTEMS, call, json_or_xml, prepared};
use crate::world::{json, status};

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
