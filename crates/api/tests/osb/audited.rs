//! What the audit says about requests of platforms.

use axum::body::Body;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use store::testing::TestDatabase;

use crate::{
    real::{Real, order},
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
