//! The duties of a broker, by their ids in the checklist of the protocol, on a real broker: versions of the protocol.

mod identity;
mod orders;
mod removals;

use axum::{body::Body, http::header};
use serde_json::Value;

use crate::{
    real::{AWS, Real, SERVICE},
    service::{PLATFORM, Reply, Service, basic},
};

const INSTANCE: &str = "/v2/service_instances/i-1";

/// One request of a platform that knows Basic authentication, and the status it must get.
pub(crate) async fn send(
    service: &Service,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Reply {
    let mut request = service.request(method, path);
    let headers = request.headers_mut().unwrap();
    headers.insert(header::AUTHORIZATION, basic(PLATFORM.0, PLATFORM.1).parse().unwrap());
    headers.insert("x-broker-api-request-identity", "req-7".parse().unwrap());
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let reply = service.send(request.body(body).unwrap()).await;
    // H7 and H9 hold for every answer.
    assert_eq!(reply.headers["x-broker-api-request-identity"], "req-7");
    assert!(reply.json().is_object());
    reply
}

async fn put(real: &Real, query: &str, body: &Value) -> Reply {
    send(&real.service, "PUT", &format!("{INSTANCE}?{query}"), Some(body)).await
}

async fn delete(real: &Real, query: &str) -> Reply {
    send(&real.service, "DELETE", &format!("{INSTANCE}?{query}"), None).await
}

async fn get(real: &Real, path: &str) -> Reply {
    send(&real.service, "GET", path, None).await
}

pub(crate) fn status(reply: &Reply) -> u16 {
    reply.status.as_u16()
}

const WAITING: &str = "accepts_incomplete=true";

fn hints() -> String {
    format!("service_id={SERVICE}&plan_id={AWS}&{WAITING}")
}

#[tokio::test]
async fn h1_h2_h3_the_version_is_2_and_has_to_be_said() {
    let real = Real::start().await;
    let table = [
        (None, "/v2/catalog", 412, "X-Broker-API-Version Header not set"),
        (Some(""), "/v2/catalog", 412, "X-Broker-API-Version Header not set"),
        (Some("two"), "/v2/catalog", 412, "X-Broker-API-Version Header must contain a version"),
        (Some("+2.17"), "/v2/catalog", 412, "X-Broker-API-Version Header must contain a version"),
        (Some("2"), "/v2/catalog", 412, "X-Broker-API-Version Header must contain a version"),
        (Some("1.14"), "/v2/catalog", 412, "X-Broker-API-Version Header must be 2.x"),
        (Some("3.0"), "/v2/catalog", 412, "X-Broker-API-Version Header must be 2.x"),
        (Some("2.0"), "/v2/catalog", 200, ""),
        (Some("2.99"), "/v2/catalog", 200, ""),
        (
            Some("2.13"),
            INSTANCE,
            412,
            "get instance endpoint only supported starting with OSB version 2.14",
        ),
        (
            Some("2.13"),
            "/v2/service_instances/i-1/service_bindings/b",
            412,
            "get binding endpoint only supported starting with OSB version 2.14",
        ),
        (
            Some("2.13"),
            "/v2/service_instances/i-1/last_operation",
            404,
            "Operation with instance_id i-1 not exist",
        ),
        (Some("2.14"), INSTANCE, 404, "instance with instanceID i-1 does not exist"),
    ];

    for (version, path, expected, description) in table {
        let mut request = real.service.request("GET", path);
        let headers = request.headers_mut().unwrap();
        headers.insert(header::AUTHORIZATION, basic(PLATFORM.0, PLATFORM.1).parse().unwrap());
        headers.remove("x-broker-api-version");
        if let Some(version) = version {
            headers.insert("x-broker-api-version", version.parse().unwrap());
        }
        let reply = real.service.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!((status(&reply), reply.description().as_str()), (expected, description));
    }
}
