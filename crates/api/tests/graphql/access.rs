//! Tokens, scopes, tenants and the headers that name them.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::json;

use crate::service::{ANY, PROVISION, READ, Reply, Service, TENANT, WRITE};

const ASK: &str = "{ runtimeOperationStatus(id: \"o\") { state } }";
const CHANGE: &str = "mutation { deprovisionRuntime(id: \"r\", supersede: true) }";

async fn send(service: &Service, token: &str, headers: &[(&str, &str)], query: &str) -> Reply {
    let mut request = Request::post("/graphql")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = json!({"query": service.named(query)}).to_string();
    service.send(request.body(Body::from(body)).unwrap()).await
}

fn refused(reply: &Reply, status: StatusCode, code: &str) {
    assert_eq!(reply.status, status, "{}", reply.text);
    assert_eq!(reply.json()["error"], code);
    assert!(reply.json()["correlation_id"].is_string());
}

#[tokio::test]
async fn without_a_valid_token_nothing_is_read() {
    let service = Service::start().await;
    let open = Request::post("/graphql").body(Body::from("no json")).unwrap();

    let without = service.send(open).await;
    let forged = send(&service, "a.b.c", &[("tenant", "t")], ASK).await;

    refused(&without, StatusCode::UNAUTHORIZED, "unauthorized");
    refused(&forged, StatusCode::UNAUTHORIZED, "unauthorized");
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
        let before = service.operations().await;
        let reply = send(&service, &service.token(scopes, Some(TENANT)), &[], query).await;
        if allowed {
            assert_eq!(reply.status, StatusCode::OK, "{scopes:?} {query}");
            reply.data();
        } else {
            refused(&reply, StatusCode::FORBIDDEN, "forbidden");
            assert_eq!(service.operations().await, before, "{scopes:?} {query}");
        }
    }
    let token = service.token(&[READ], Some(TENANT));
    let body = json!({"query": named, "operationName": "B"}).to_string();
    let request = Request::post("/graphql")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"))
        .body(Body::from(body))
        .unwrap();
    refused(&service.send(request).await, StatusCode::FORBIDDEN, "forbidden");
}

#[tokio::test]
async fn a_token_with_a_tenant_speaks_for_that_tenant_only() {
    let service = Service::start().await;
    let token = service.token(&[READ, ANY], Some(TENANT));
    let foreign = service.token(&[READ, ANY], Some("other"));

    send(&service, &token, &[], ASK).await.data();
    send(&service, &token, &[("tenant", TENANT)], ASK).await.data();
    let other = send(&service, &token, &[("tenant", "other")], ASK).await;
    let hidden = send(&service, &foreign, &[], ASK).await;

    refused(&other, StatusCode::FORBIDDEN, "forbidden");
    assert_eq!(hidden.error()["extensions"]["error_code"], 2, "{}", hidden.text);
}

#[tokio::test]
async fn a_token_without_a_tenant_needs_the_scope_for_any() {
    let service = Service::start().await;
    let (any, none) = (service.token(&[READ, ANY], None), service.token(&[READ], None));
    let empty = service.token(&[READ], Some(""));

    send(&service, &any, &[("tenant", TENANT)], ASK).await.data();

    let reply = send(&service, &none, &[("tenant", TENANT)], ASK).await;
    refused(&reply, StatusCode::FORBIDDEN, "forbidden");
    let reply = send(&service, &empty, &[("tenant", TENANT)], ASK).await;
    refused(&reply, StatusCode::UNAUTHORIZED, "unauthorized");
}

#[tokio::test]
async fn a_missing_tenant_is_left_for_the_use_case_to_refuse() {
    let service = Service::start().await;
    let any = service.token(&[READ, ANY], None);

    for headers in [&[][..], &[("tenant", "")][..]] {
        let error = send(&service, &any, headers, ASK).await.error();
        assert_eq!(error["message"], "tenant header is empty", "{error}");
    }
}

#[tokio::test]
async fn subaccount_and_idempotency_key_arrive() {
    let service = Service::start().await;
    let token = service.token(&[WRITE], Some(TENANT));
    let query = PROVISION.replace("NAME", "c-1").replace("MORE", "");
    let headers = [("sub-account", "s"), ("idempotency-key", "k-1")];

    let first = send(&service, &token, &headers, &query).await.data();
    let again = send(&service, &token, &headers, &query).await.data();
    let id = first["result"]["runtimeID"].as_str().unwrap().parse().unwrap();
    let row = service.provisioner.parts().store.find(id).await.unwrap().unwrap();

    assert_eq!(first, again);
    assert_eq!((row.tenant.as_str(), row.subaccount.as_str()), (TENANT, "s"));
}

#[tokio::test]
async fn a_header_that_is_given_twice_is_refused() {
    let service = Service::start().await;
    let token = service.token(&[READ, ANY], None);

    for name in ["tenant", "sub-account", "idempotency-key"] {
        let reply = send(&service, &token, &[(name, "a"), (name, "b")], ASK).await;
        refused(&reply, StatusCode::BAD_REQUEST, "bad_request");
    }
}

#[tokio::test]
async fn a_key_that_is_longer_than_255_bytes_is_refused_before_anything_is_read() {
    let service = Service::start().await;
    let token = service.token(&[READ, ANY], Some(TENANT));
    let keys = ["k".repeat(255), "k".repeat(256)];

    let [longest, longer] = keys.each_ref().map(|key| {
        let (service, token) = (&service, &token);
        async move { send(service, token, &[("idempotency-key", key)], ASK).await }
    });

    assert_eq!(longest.await.status, StatusCode::OK);
    let longer = longer.await;
    refused(&longer, StatusCode::BAD_REQUEST, "bad_request");
    assert!(longer.text.contains("idempotency-key"), "{}", longer.text);
    assert!(longer.text.contains("255 bytes"), "{}", longer.text);
}
