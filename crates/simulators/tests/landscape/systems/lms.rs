//! Logging's own rules. The request for a certificate below was made with OpenSSL.

use std::time::Duration;

use serde_json::{Value, json};

use super::ordinary::{call, logging, objects, order};
use crate::world::{World, json, status};

const CSR: &str = include_str!("request.pem");

async fn tenant(world: &World) -> String {
    let made = json(call(world, "POST", "/lms/tenants").json(&logging("ga1"))).await;
    made["id"].as_str().unwrap().to_owned()
}

async fn requested(world: &World, tenant: &str) -> Value {
    let path = format!("/lms/tenants/{tenant}/certs");
    json(call(world, "POST", &path).json(&json!({ "certId": 0, "csr": CSR }))).await
}

#[tokio::test]
async fn a_tenant_becomes_ready_in_two_steps_and_stays_so() {
    let world = World::new().await;
    let id = tenant(&world).await;
    let read = async || json(call(&world, "GET", &format!("/lms/tenants/{id}/status"))).await;
    let expected = |kibana: bool, elasticsearch: bool, state: &str| {
        json!({
            "kibanaDNSResolves": kibana, "elasticsearchDNSResolves": elasticsearch,
            "kibanaState": state,
        })
    };

    assert_eq!(read().await, expected(false, false, "pending"));
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(read().await, expected(false, true, "pending"));
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(read().await, expected(true, true, "green"));
    world.landscape.pace().set(simulators::pace::Speed::Times(0.6));
    assert_eq!(read().await, expected(true, true, "green"), "time does not go back");
    let info = json(call(&world, "GET", &format!("/lms/tenants/{id}"))).await;
    assert_eq!(info, json!({ "id": id, "dns": "ga1.eu.lms.example.com" }));
}

#[tokio::test]
async fn a_certificate_is_signed_after_a_while_and_is_there_after_a_restart() {
    let world = World::new().await;
    let id = tenant(&world).await;
    let callback = requested(&world, &id).await["callbackUrl"].as_str().unwrap().to_owned();
    let path = callback.strip_prefix(&world.url).unwrap().to_owned();
    let authority = format!("/lms/tenants/{id}/certs/ca");

    assert_eq!(status(call(&world, "GET", &path)).await, 404);
    assert_eq!(status(call(&world, "GET", &authority)).await, 404);
    world.clock.advance(Duration::from_secs(5));
    let signed = json(call(&world, "GET", &path)).await;
    let trusted = json(call(&world, "GET", &authority)).await;
    assert!(signed["cert"].as_str().unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
    assert!(trusted["cert"].as_str().unwrap().starts_with("-----BEGIN CERTIFICATE-----"));

    let world = world.reopened().await;
    assert_eq!(json(call(&world, "GET", &path)).await, signed);
    assert_eq!(json(call(&world, "GET", &authority)).await, trusted);
}

#[tokio::test]
async fn every_create_makes_another_tenant() {
    let world = World::new().await;

    assert_ne!(tenant(&world).await, tenant(&world).await);

    assert_eq!(objects(&world, "lms").await.len(), 2);
}

#[tokio::test]
async fn what_the_real_one_refuses_is_refused() {
    let world = World::new().await;
    let id = tenant(&world).await;
    let table = [
        ("name", json!("ga-1")),
        ("name", json!("a".repeat(51))),
        ("region", json!("moon")),
        ("clusterType", json!("HA")),
        ("datacenter", json!("one")),
        ("samlGroups", json!([])),
        ("samlTenant", json!("")),
        ("costcenter", json!("0")),
    ];
    for (field, value) in table {
        let mut wrong = logging("ga1");
        wrong[field] = value;
        let refused = call(&world, "POST", "/lms/tenants").json(&wrong);
        assert_eq!(status(refused).await, 400, "{field}");
    }
    let certificates = format!("/lms/tenants/{id}/certs");
    // In the signature, which stands at the end.
    let (before, after) = CSR.split_at(CSR.len() - 100);
    let other = if after.starts_with('A') { "B" } else { "A" };
    let tampered = format!("{before}{other}{}", &after[1..]);
    for csr in [
        "",
        "x",
        &tampered,
        "-----BEGIN CERTIFICATE REQUEST-----\nMA==\n-----END CERTIFICATE REQUEST-----",
    ] {
        let body = json!({ "certId": 0, "csr": csr });
        assert_eq!(status(call(&world, "POST", &certificates).json(&body)).await, 400, "{csr}");
    }
    let elsewhere = call(&world, "POST", "/lms/tenants/x/certs");
    assert_eq!(status(elsewhere.json(&json!({ "certId": 0, "csr": CSR }))).await, 404);
    assert_eq!(status(call(&world, "GET", "/lms/tenants/x/status")).await, 404);
    assert_eq!(status(call(&world, "GET", "/lms/tenants/x/certs/ca")).await, 404);
}

#[tokio::test]
async fn an_operator_hurries_holds_back_spoils_and_misleads() {
    let world = World::new().await;
    let on = || json!({ "on": true });
    let id = tenant(&world).await;
    order(&world, "lms", "never-ready", on()).await;
    world.clock.advance(Duration::from_mins(30));
    let ready = async || {
        let read = json(call(&world, "GET", &format!("/lms/tenants/{id}/status"))).await;
        read["kibanaDNSResolves"] == true
    };
    assert!(!ready().await);
    assert_eq!(order(&world, "lms", "make-ready", json!({ "id": id })).await, 204);
    assert!(ready().await);
    assert_eq!(order(&world, "lms", "make-ready", json!({ "id": "x" })).await, 400);

    let authority = || call(&world, "GET", &format!("/lms/tenants/{id}/certs/ca"));
    order(&world, "lms", "spoil-certificates", on()).await;
    assert_eq!(json(authority()).await, json!({ "cert": "soon" }));
    order(&world, "lms", "withhold-certificates", on()).await;
    assert_eq!(status(authority()).await, 404);
    order(&world, "lms", "dead-callback", on()).await;
    let misleading = requested(&world, &id).await;
    assert!(misleading["callbackUrl"].as_str().unwrap().starts_with("http://127.0.0.1:9/"));
}
