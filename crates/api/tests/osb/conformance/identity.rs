//! The duties of a broker about the originating identity of a request.

use axum::{body::Body, http::header};

use super::{INSTANCE, WAITING, send, status};
use crate::real::{Real, order};

#[tokio::test]
async fn h6_an_originating_identity_of_any_form_is_taken() {
    let real = Real::start().await;

    for (number, identity) in
        ["cloudfoundry e30=", "nonsense", "a b c", "x \u{fc}"].iter().enumerate()
    {
        let path = format!("/oauth/v2/service_instances/i-{number}?{WAITING}");
        let request = real.service.request("PUT", &path);
        let request = request.header("x-broker-api-originating-identity", identity.as_bytes());
        let reply = real.service.send(request.body(order().to_string().into()).unwrap()).await;
        assert_eq!(status(&reply), 202, "{identity}: {}", reply.text);
    }
}

#[tokio::test]
async fn h7_every_refusal_echoes_the_identity_of_the_request() {
    let real = Real::start().await;

    for (method, path, expected) in [
        ("GET", "/v2/nothing", 404),
        ("POST", "/v2/catalog", 405),
        ("PUT", INSTANCE, 400),
        ("PATCH", INSTANCE, 400),
        ("DELETE", INSTANCE, 400),
    ] {
        assert_eq!(status(&send(&real.service, method, path, None).await), expected, "{path}");
    }
    let mut request = real.service.request("GET", "/v2/catalog");
    request.headers_mut().unwrap().remove(header::AUTHORIZATION);
    let request = request.header("x-broker-api-request-identity", "req-8");
    let denied = real.service.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(status(&denied), 401);
    assert_eq!(denied.headers["x-broker-api-request-identity"], "req-8");
}
