//! What the audit says about requests of platforms.

use axum::body::Body;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use store::testing::TestDatabase;

use crate::{
    real::{Real, SERVICE, order},
    service::WAITING,
};

#[tokio::test]
async fn the_identity_that_a_platform_acts_for_is_in_the_audit() {
    let real = Real::on(TestDatabase::sqlite(), true).await;
    let identity = BASE64_STANDARD.encode(json!({"user_id": "ada"}).to_string());
    let send = async |instance: &str, identity: Option<String>| {
        let path = format!("/oauth/v2/service_instances/{instance}?{WAITING}");
        let mut request = real.service.request("PUT", &path);
        if let Some(identity) = identity {
            request = request.header("X-Broker-API-Originating-Identity", identity);
        }
        let reply = real.service.send(request.body(Body::from(order().to_string())).unwrap()).await;
        assert_eq!(reply.status, 202, "{}", reply.text);
    };

    send("i-1", Some(format!("cloudfoundry {identity}"))).await;
    send("i-2", Some("somebody".into())).await;
    send("i-3", None).await;

    let mut told: Vec<(String, Value)> = Vec::new();
    for entry in real.audited().await {
        let details: Value = serde_json::from_str(&entry.details).unwrap();
        told.push((entry.instance.unwrap(), details["on_behalf_of"].clone()));
    }
    told.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("i-1", json!(r#"cloudfoundry {"user_id":"ada"}"#)),
        ("i-2", json!("somebody")),
        ("i-3", Value::Null),
    ];
    assert_eq!(told, expected.map(|(instance, identity)| (instance.to_owned(), identity)));
}

#[tokio::test]
async fn a_move_to_another_account_names_both_accounts_in_the_audit() {
    let real = Real::on(TestDatabase::sqlite(), true).await;
    real.make("i-1").await;
    let path = format!("/oauth/v2/service_instances/i-1?{WAITING}");

    for account in ["ga-1", "ga-2", "ga-2", "ga-3"] {
        let change = json!({"service_id": SERVICE, "context": {"globalaccount_id": account}});
        let request = real.service.request("PATCH", &path).body(Body::from(change.to_string()));
        let reply = real.service.send(request.unwrap()).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
    }

    let mut entries = real.audited().await;
    entries.retain(|entry| entry.action == "update");
    entries.sort_by_key(|entry| entry.id);
    let found: Vec<(Value, Option<String>)> = entries
        .into_iter()
        .map(|entry| {
            let details: Value = serde_json::from_str(&entry.details).unwrap();
            (details["globalaccount_id"].clone(), entry.reason)
        })
        .collect();
    let moved = |from: &str, to: &str| Some(format!("moved from global account {from} to {to}"));
    let expected = [
        (json!("ga-1"), None),
        (json!("ga-2"), moved("ga-1", "ga-2")),
        (json!("ga-2"), None),
        (json!("ga-3"), moved("ga-2", "ga-3")),
    ];
    assert_eq!(found, expected);
}
