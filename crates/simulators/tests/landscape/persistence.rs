//! What is answered is kept: after a drop, after a tail that was cut off, after a reset.

use std::fs;

use serde_json::Value;
use simulators::{
    ledger::Filter,
    trouble::{Kind, Rule},
};

use crate::world::{World, json, status};

#[tokio::test]
async fn runtimes_tokens_and_trouble_are_there_after_a_restart() {
    let world = World::new().await;
    let id = world.registered("kept").await;
    world.landscape.issuer().rotate_keys(false).unwrap();
    world.trouble(Rule::next(2, Kind::Down { refuse: false }).of("director"));
    assert_eq!(status(world.register("a")).await, 503);

    let world = world.reopened().await;

    assert_eq!(status(world.register("a")).await, 503);
    assert_eq!(world.runtime(&id).await["name"], "kept");
    let keys: Value = world
        .http
        .get(format!("{}/oauth2/certs", world.url))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(keys["keys"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_tail_that_was_cut_off_costs_the_last_change_only() {
    let world = World::new().await;
    let first = world.registered("first").await;
    let second = world.registered("second").await;

    let world = world
        .reopened_after(|folder| {
            for name in ["director.log", "ledger.log"] {
                let path = folder.join(name);
                let bytes = fs::read(&path).unwrap();
                fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();
            }
        })
        .await;

    assert_eq!(world.runtime(&first).await["name"], "first");
    assert_eq!(world.runtime(&second).await, Value::Null);
    assert_ne!(world.registered("second").await, first);
}

#[tokio::test]
async fn a_change_that_was_kept_right_before_the_end_is_entered_at_the_next_start() {
    let world = World::new().await;
    let id = world.registered("kept").await;
    let before = world.landscape.ledger().all(&Filter::default()).unwrap();

    let world = world
        .reopened_after(|folder| {
            let path = folder.join("ledger.log");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.split_inclusive('\n').next().unwrap()).unwrap();
        })
        .await;

    let after = world.landscape.ledger().all(&Filter::default()).unwrap();
    assert_eq!(world.runtime(&id).await["name"], "kept");
    assert_eq!(after[..], before[..2]);

    let world = world.reopened().await;
    assert_eq!(world.landscape.ledger().sums("director").applied, 1, "and only once");
}

#[tokio::test]
async fn a_reset_of_one_system_leaves_the_other_alone_and_lasts() {
    let world = World::new().await;
    let id = world.registered("gone").await;
    world.landscape.issuer().rotate_keys(false).unwrap();

    assert_eq!(status(world.control("POST", "/systems/director/reset")).await, 204);
    let world = world.reopened().await;

    assert_eq!(world.runtime(&id).await, Value::Null);
    let keys = json(world.http.get(format!("{}/.well-known/jwks.json", world.url))).await;
    assert_eq!(keys["keys"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_same_seed_and_the_same_calls_give_the_same_ids() {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let world = World::new().await;
        ids.push([world.registered("a").await, world.registered("b").await]);
    }

    assert_eq!(ids[0], ids[1]);
}
