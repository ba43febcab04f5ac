//! The audit of requests for kubeconfigs, in every form that a query can have.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::{Value, json};

use crate::service::{KUBECONFIG, READ, Service, TENANT, WRITE};

const STATUS: &str = "runtimeConfiguration { kubeconfig }";

async fn send(service: &Service, scopes: &[&str], body: &Value) -> Value {
    let request = Request::post("/graphql")
        .header("content-type", "application/json")
        .header("user-agent", "a-test/1")
        .header("authorization", format!("Bearer {}", service.token(scopes, Some(TENANT))));
    let reply = service.send(request.body(Body::from(body.to_string())).unwrap()).await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text);
    reply.json()
}

/// The entries of the runtime, without the one about its order.
async fn entries(service: &Service) -> Vec<(String, String, Option<String>, Value)> {
    let entries = service.audit.of(std::slice::from_ref(&service.runtime), &[], 100).await.unwrap();
    let shown = |entry: store::audit::AuditEntry| {
        let details = serde_json::from_str(&entry.details).unwrap();
        (entry.action, entry.result.unwrap(), entry.reason, details)
    };
    entries.into_iter().map(shown).filter(|it| it.0 != "provisionRuntime").collect()
}

#[tokio::test]
async fn every_query_for_a_kubeconfig_is_audited_however_it_is_written() {
    let service = Service::start().await;
    // Gardener would say that the Shoot is gone.
    service.break_the_garden();
    let id = service.runtime.clone();
    let queries = [
        json!({"query": format!("{{ runtimeStatus(id: \"{id}\") {{ {STATUS} }} }}")}),
        json!({"query": format!("query($id: String!) {{ runtimeStatus(id: $id) {{ {STATUS} }} }}"),
            "variables": {"id": id}}),
        json!({"query": format!("query($r: String!) {{ a: runtimeStatus(id: $r) {{ ...S }} }}
            fragment S on RuntimeStatus {{ runtimeConfiguration {{ ... on RuntimeConfig {{ k: kubeconfig }} }} }}"),
            "variables": {"r": id}}),
        json!({"query": format!("query A {{ operationLimits {{ provisioning }} }}
            query B {{ ... on Query {{ runtimeStatus(id: \"{id}\") {{ {STATUS} }} }} }}"),
            "operationName": "B"}),
    ];

    for query in &queries {
        let before = entries(&service).await.len();
        let answer = send(&service, &[READ, KUBECONFIG], query).await;
        assert!(answer.to_string().contains("apiVersion"), "{query}: {answer}");
        let entries = entries(&service).await;
        assert_eq!(entries.len(), before + 1, "{query}");
        let (action, result, reason, details) = entries.last().unwrap();
        assert_eq!((action.as_str(), result.as_str(), reason), ("kubeconfig", "accepted", &None));
        assert_eq!(*details, json!({"tenant": TENANT, "kubeconfig": "asked for"}));
    }
    let query = format!("{{ runtimeStatus(id: \"r\") {{ {STATUS} }} }}");
    let got = service.get(&[("query", &query)]).await;
    assert_eq!(got.status, StatusCode::OK);
    assert_eq!(entries(&service).await.len(), queries.len() + 1, "by GET too");
}

#[tokio::test]
async fn a_kubeconfig_that_is_withheld_is_audited_as_refused_and_other_queries_are_not_audited() {
    let service = Service::start().await;
    let id = service.runtime.clone();
    let ask = |selection: &str| json!({"query": format!("{{ runtimeStatus(id: \"{id}\") {{ {selection} }} }}")});
    let roll_back = json!({"query": format!(
        "mutation {{ rollBackUpgradeOperation(id: \"{id}\") {{ {STATUS} }} }}")});

    send(&service, &[READ], &ask("lastOperationStatus { state }")).await;
    assert_eq!(entries(&service).await, []);
    let answer = send(&service, &[READ], &ask(STATUS)).await;
    send(&service, &[WRITE], &roll_back).await;

    assert!(!answer.to_string().contains("apiVersion"), "{answer}");
    let entries = entries(&service).await;
    let (action, result, reason, details) = &entries[0];
    assert_eq!((action.as_str(), result.as_str()), ("kubeconfig", "refused"));
    assert!(reason.as_deref().unwrap().contains("lacks the scope"), "{reason:?}");
    assert_eq!(details["kubeconfig"], "withheld");
    assert_eq!(entries[1].0, "rollBackUpgradeOperation");
    assert_eq!(entries[1].3["kubeconfig"], "withheld");
    assert_eq!(entries.len(), 2);
}

#[tokio::test]
async fn a_mutation_in_a_fragment_is_audited_by_its_name() {
    let service = Service::start().await;
    let id = service.runtime.clone();
    let query = format!(
        "mutation {{ ...Outer }}
         fragment Outer on Mutation {{ ... on Mutation {{ ...Inner }} }}
         fragment Inner on Mutation {{ rollBackUpgradeOperation(id: \"{id}\") {{ runtimeConfiguration {{ kubeconfig }} }} }}"
    );

    send(&service, &[WRITE], &json!({ "query": query })).await;

    let entries = entries(&service).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].0, "rollBackUpgradeOperation");
}
