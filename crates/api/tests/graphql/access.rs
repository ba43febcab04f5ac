//! Tokens, scopes, tenants and the headers that name them.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use provisioner::Caller;
use serde_json::json;

use crate::service::{ANY, READ, Reply, Service, WRITE};

const ASK: &str = "{ runtimeOperationStatus(id: \"o\") { state } }";
const CHANGE: &str = "mutation { deprovisionRuntime(id: \"r\") }";

async fn send(service: &Service, token: &str, headers: &[(&str, &str)], query: &str) -> Reply {
    let mut request = Request::post("/graphql")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = json!({"query": query}).to_string();
    service.send(request.body(Body::from(body)).unwrap()).await
}

fn refused(service: &Service, reply: &Reply, status: StatusCode, code: &str) {
    assert_eq!(reply.status, status, "{}", reply.text);
    assert_eq!(reply.json()["error"], code);
    assert!(reply.json()["correlation_id"].is_string());
    assert_eq!(service.runtimes.calls(), []);
}

#[tokio::test]
async fn without_a_valid_token_nothing_is_read() {
    let service = Service::start().await;
    let open = Request::post("/graphql").body(Body::from("no json")).unwrap();

    let without = service.send(open).await;
    let forged = send(&service, "a.b.c", &[("tenant", "t")], ASK).await;

    refused(&service, &without, StatusCode::UNAUTHORIZED, "unauthorized");
    refused(&service, &forged, StatusCode::UNAUTHORIZED, "unauthorized");
}

#[tokio::test]
async fn queries_need_the_scope_to_read_and_mutations_the_scope_to_write() {
    let service = Service::start().await;
    let named = format!("query A {ASK} mutation B {{ hibernateRuntime(id: \"r\") {{ id }} }}");
    let cases: [(&[&str], &str, bool); 8] = [
        (&[READ], ASK, true),
        (&[READ], CHANGE, false),
        (&[WRITE], ASK, false),
        (&[WRITE], CHANGE, true),
        (&[READ, WRITE], ASK, true),
        (&[READ, WRITE], CHANGE, true),
        (&["operations:write", "broker:write"], ASK, false),
        (&[], CHANGE, false),
    ];

    for (scopes, query, allowed) in cases {
        let reply = send(&service, &service.token(scopes, Some("t")), &[], query).await;
        if allowed {
            assert_eq!(reply.status, StatusCode::OK, "{scopes:?} {query}");
            assert_eq!(service.runtimes.calls().len(), 1);
        } else {
            refused(&service, &reply, StatusCode::FORBIDDEN, "forbidden");
        }
    }
    let token = service.token(&[READ], Some("t"));
    let body = json!({"query": named, "operationName": "B"}).to_string();
    let request = Request::post("/graphql")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"))
        .body(Body::from(body))
        .unwrap();
    refused(&service, &service.send(request).await, StatusCode::FORBIDDEN, "forbidden");
}

#[tokio::test]
async fn a_token_with_a_tenant_speaks_for_that_tenant_only() {
    let service = Service::start().await;
    let token = service.token(&[READ, ANY], Some("own"));

    let absent = send(&service, &token, &[], ASK).await;
    let same = send(&service, &token, &[("tenant", "own")], ASK).await;
    let tenants: Vec<String> =
        service.runtimes.calls().into_iter().map(|(caller, _)| caller.tenant).collect();
    let other = send(&service, &token, &[("tenant", "other")], ASK).await;

    absent.data();
    same.data();
    assert_eq!(tenants, ["own", "own"]);
    refused(&service, &other, StatusCode::FORBIDDEN, "forbidden");
}

#[tokio::test]
async fn a_token_without_a_tenant_needs_the_scope_for_any() {
    let service = Service::start().await;
    let (any, none) = (service.token(&[READ, ANY], None), service.token(&[READ], None));
    let empty = service.token(&[READ], Some(""));

    send(&service, &any, &[("tenant", "named")], ASK).await.data();
    assert_eq!(service.runtimes.calls()[0].0.tenant, "named");

    let reply = send(&service, &none, &[("tenant", "named")], ASK).await;
    refused(&service, &reply, StatusCode::FORBIDDEN, "forbidden");
    let reply = send(&service, &empty, &[("tenant", "named")], ASK).await;
    refused(&service, &reply, StatusCode::UNAUTHORIZED, "unauthorized");
}

#[tokio::test]
async fn a_missing_tenant_is_left_for_the_use_case_to_refuse() {
    let service = Service::start().await;
    let any = service.token(&[READ, ANY], None);

    send(&service, &any, &[], ASK).await.data();
    send(&service, &any, &[("tenant", "")], ASK).await.data();

    for (caller, _) in service.runtimes.calls() {
        assert_eq!(caller, Caller { any_tenant: true, ..Caller::default() });
    }
}

#[tokio::test]
async fn subaccount_and_idempotency_key_arrive() {
    let service = Service::start().await;
    let token = service.token(&[WRITE], Some("t"));
    let headers = [("sub-account", "s"), ("idempotency-key", "k-1")];

    send(&service, &token, &headers, CHANGE).await.data();

    let expected = Caller {
        tenant: "t".into(),
        any_tenant: false,
        subaccount: Some("s".into()),
        idempotency_key: Some("k-1".into()),
    };
    assert_eq!(service.runtimes.calls()[0].0, expected);
}

#[tokio::test]
async fn a_header_that_is_given_twice_is_refused() {
    let service = Service::start().await;
    let token = service.token(&[READ, ANY], None);

    for name in ["tenant", "sub-account", "idempotency-key"] {
        let reply = send(&service, &token, &[(name, "a"), (name, "b")], ASK).await;
        refused(&service, &reply, StatusCode::BAD_REQUEST, "bad_request");
    }
}
