//! Who reads secrets, what is asked for nobody, and how much an error may say.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::{Value, json};
use simulators::testing::Lines;

use crate::service::{KUBECONFIG, READ, Reply, Service, TENANT, WRITE};

const OPEN: &str = "{ runtimeStatus(id: \"r\") { runtimeConfiguration { ...C } } }
    fragment C on RuntimeConfig { key: kubeconfig kymaConfig { version } }";
const ROLL_BACK: &str = "mutation { rollBackUpgradeOperation(id: \"r\") {
    runtimeConfiguration { kubeconfig } } }";

async fn send(service: &Service, scopes: &[&str], query: &str) -> Reply {
    let request = Request::post("/graphql")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {}", service.token(scopes, Some(TENANT))));
    service
        .send(request.body(Body::from(json!({"query": service.named(query)}).to_string())).unwrap())
        .await
}

#[tokio::test]
async fn a_kubeconfig_needs_a_scope_of_its_own() {
    let service = Service::start().await;
    // Gardener would say that the Shoot is gone.
    service.break_the_garden();

    let opened = send(&service, &[READ, KUBECONFIG], OPEN).await.data();
    let closed = send(&service, &[READ], OPEN).await;
    let rolled_back = send(&service, &[WRITE], ROLL_BACK).await;

    assert_eq!(opened["runtimeStatus"]["runtimeConfiguration"]["key"], "apiVersion: v1");
    for reply in [&closed, &rolled_back] {
        let error = &reply.json()["errors"][0];
        assert_eq!(error["extensions"]["error_code"], 403, "{error}");
        let message = "kubeconfig: the token lacks the scope provisioner:kubeconfig";
        assert_eq!(error["message"], message);
        assert!(!reply.text.contains("apiVersion"), "{}", reply.text);
    }
    assert_ne!(closed.json()["data"]["runtimeStatus"], Value::Null, "the rest is answered");
}

#[tokio::test]
async fn only_what_a_query_selects_is_asked_for() {
    let service = Service::start().await;
    let cases = [
        ("lastOperationStatus { state }", false),
        ("runtimeConfiguration { clusterConfig { name } }", false),
        ("a: runtimeConnectionStatus { status }", true),
        ("... on RuntimeStatus { hibernationStatus { hibernated } }", true),
        ("runtimeConfiguration { kubeconfig }", true),
    ];

    for (selection, asks) in cases {
        let before = service.calls_of_the_garden();
        let query = format!("{{ runtimeStatus(id: \"r\") {{ {selection} }} }}");
        service.run(&query).await.data();

        assert_eq!(service.calls_of_the_garden() > before, asks, "{selection}");
    }
}

#[tokio::test]
async fn a_removal_says_whether_it_supersedes() {
    let service = Service::start().await;
    let remove = async |argument: &str| {
        service.run(&format!("mutation {{ deprovisionRuntime(id: \"r\"{argument}) }}")).await
    };
    service
        .run("mutation { upgradeShoot(id: \"r\", config: {gardenerConfig: {}}) { id } }")
        .await
        .data();

    let refused = [remove("").await, remove(", supersede: false").await];
    let accepted = remove(", supersede: true").await;

    for reply in refused {
        assert_eq!(reply.error()["extensions"]["error_code"], 400, "{}", reply.text);
    }
    assert!(accepted.data()["deprovisionRuntime"].is_string());
}

#[tokio::test]
async fn what_a_caller_wrote_is_one_short_field_of_one_line_of_the_log() {
    let (lines, service) = (Lines::kept(), Service::start().await);
    let planted = "2026-01-01T00:00:00Z ERROR planted";
    let id = format!("x\\n{planted}{}", "y".repeat(100_000));

    let reply =
        service.run(&format!("{{ runtimeOperationStatus(id: \"{id}\") {{ state }} }}")).await;

    assert!(reply.text.contains(planted), "{}", reply.text);
    let text = lines.text();
    let told: Vec<&str> = text.lines().filter(|line| line.contains(planted)).collect();
    assert!(!told.is_empty(), "the log was kept");
    for line in told {
        assert!(!line.starts_with(planted), "a line of its own");
        assert!(line.len() < 8_000, "{} letters", line.len());
    }
}

#[tokio::test]
async fn errors_are_few_and_short() {
    let service = Service::start().await;
    let id = "x".repeat(100_000);
    let long =
        service.run(&format!("{{ runtimeOperationStatus(id: \"{id}\") {{ state }} }}")).await;
    let arguments = "id: \"x\" ".repeat(5_000);
    let many = service.run(&format!("{{ runtimeOperationStatus({arguments}) {{ state }} }}")).await;
    let directives = "@skip(if: false) ".repeat(100);
    let directed = format!("{{ runtimeOperationStatus(id: \"o\") {{ state {directives} }} }}");
    let directed = service.run(&directed).await;

    assert!(long.text.len() < 4_000, "{}", long.text.len());
    assert_eq!(many.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(many.json()["errors"].as_array().unwrap().len() <= 20);
    assert!(many.text.len() < 10_000, "{}", many.text.len());
    assert_eq!(directed.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", directed.text);
}

#[tokio::test]
async fn a_directive_that_nobody_knows_is_refused_wherever_it_stands() {
    let service = Service::start().await;
    let ask = "runtimeOperationStatus(id: \"o\")";
    let queries = [
        format!("query @nope {{ {ask} {{ state }} }}"),
        format!("{{ {ask} @nope {{ state }} }}"),
        format!("{{ {ask} {{ state @nope }} }}"),
        format!("{{ ... @nope {{ {ask} {{ state }} }} }}"),
        format!("{{ ...F @nope }} fragment F on Query {{ {ask} {{ state }} }}"),
        format!("{{ ...F }} fragment F on Query @nope {{ {ask} {{ state }} }}"),
        "query($id: String! @nope) { runtimeOperationStatus(id: $id) { state } }".to_owned(),
        "{ __typename @nope }".to_owned(),
        "{ __typename @include(iff: true) }".to_owned(),
        format!("{{ {ask} {{ __typename @nope }} }}"),
        format!("{{ ...F }} fragment F on Query {{ {ask} {{ __typename @skip }} }}"),
    ];

    for query in queries {
        let reply = service.run_with(&query, json!({"id": "o"})).await;

        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}: {}", reply.text);
    }
    assert_eq!(service.operations().await, 1);
}
