//! `kcp up` again: it carries on, also on PostgreSQL.

use serde_json::Value;
use server::up::{Options, Up};

use super::{
    client::{Client, data, order},
    options,
};
use crate::support::free_ports;

#[tokio::test(flavor = "multi_thread")]
async fn starting_again_carries_on_with_the_order_that_was_begun() {
    let (_folder, data) = data();
    let port = free_ports();
    let up = Up::start(options(port, &data, "1")).await.unwrap();
    let before = Client::found_in(&data);
    order(&up).await;
    let waits =
        |operation: &Value| operation["step"] == "Check_Runtime" && operation["note"].is_string();
    let first = before.until(waits).await;
    up.stop().await;

    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let after = Client::found_in(&data);
    let ended = after.until(|operation| operation["state"] == "succeeded").await;

    assert_eq!(ended["id"], first["id"]);
    assert_eq!(after.operations().await.len(), 1);
    assert_eq!(after.field("password"), before.field("password"));
    let (status, _) = after.get("broker", "/operations", Some(before.field("token"))).await;
    assert_eq!(status, 200, "a token of the start before is still good");
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_landscape_answers_behind_the_token_and_carries_on_after_a_restart() {
    let (_folder, data) = data();
    let port = free_ports();
    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let client = Client::found_in(&data);
    let register = "mutation { result: registerRuntime(in: { name: \"kept\" }) { id } }";
    let registered = client
        .http
        .post(format!("{}/director/graphql", client.field("landscape")))
        .bearer_auth(client.field("token"))
        .header("tenant", "any")
        .json(&serde_json::json!({ "query": register }));
    let registered: Value = registered.send().await.unwrap().json().await.unwrap();
    let (open, _) = client.get("landscape", "/landscape/systems", None).await;
    up.stop().await;

    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let after = Client::found_in(&data);
    let path = "/landscape/systems/director/objects";
    let (status, kept) = after.get("landscape", path, Some(after.field("token"))).await;
    up.stop().await;

    assert_eq!((open, status), (401, 200));
    assert_eq!(kept["objects"][0]["id"], registered["data"]["result"]["id"]);
    assert_eq!(kept["objects"][0]["value"]["name"], "kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_works_on_postgresql_as_well() {
    let (_folder, data) = data();
    let database = store::testing::TestDatabase::postgres().await;
    let url = Some(database.url().to_owned().into());
    let options = Options { database: url, ..options(free_ports(), &data, "max") };

    let up = Up::start(options).await.unwrap();
    let client = Client::found_in(&data);
    order(&up).await;
    client.until(|operation| operation["state"] == "succeeded").await;

    assert!(!data.join("kcp.db").exists());
    up.stop().await;
}
