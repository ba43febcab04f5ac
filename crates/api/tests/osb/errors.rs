//! Every error, as platforms see it.

use std::fmt::Write;

use api::{
    Limits,
    osb::Parts,
    router::{platforms, shielded},
};
use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use broker::instances::Error;
use serde_json::json;
use tower::ServiceExt;

use crate::{
    canned::Canned,
    service::{HINTS, INSTANCE, Service, WAITING},
    support::tokens::KeyServer,
};

type Make = fn() -> Error;

#[tokio::test]
async fn every_refusal_has_its_status_and_words() {
    let make: Vec<(&str, Make)> = vec![
        ("bad", || Error::Bad("service_id missing".into())),
        ("limit", || Error::Limit("there is only one allowed".into())),
        ("exhausted", || {
            Error::Exhausted("provider accounts are available in the pool \"aws\"".into())
        }),
        ("async_required", || Error::AsyncRequired),
        ("busy", || Error::Busy),
        ("maintenance", || Error::MaintenanceInfo),
        ("taken", || Error::Taken("provisioning operation already exist")),
        ("foreign", || Error::Foreign),
        ("not_found", || Error::NotFound("instance with instanceID i-1 does not exist".into())),
        ("gone", || Error::Gone),
        ("unavailable", || Error::Unavailable("password=hush".into())),
        ("internal", || Error::Internal("password=hush".into())),
    ];
    let canned = Canned::new();
    let service = Service::around(canned.clone()).await;
    let mut shown = String::new();

    for (name, error) in make {
        canned.refuse(error);
        let reply = service.call("DELETE", &format!("{INSTANCE}?{HINTS}")).await;
        assert!(reply.text.ends_with("}\n"));
        writeln!(shown, "{name}: {}\n", reply.shown()).unwrap();
    }

    assert!(!shown.contains("hush"), "{shown}");
    insta::assert_snapshot!("refusals", shown);
}

#[tokio::test]
async fn what_is_not_offered_says_so() {
    let service = Service::around(Canned::new()).await;
    let binding = format!("{INSTANCE}/service_bindings/b-1");
    let mut shown = String::new();

    for (method, path) in [
        ("PATCH", INSTANCE),
        ("PUT", &binding),
        ("GET", &binding),
        ("DELETE", &binding),
        ("GET", &format!("{binding}/last_operation")),
    ] {
        let reply = service.call(method, path).await;
        writeln!(shown, "{method} {path}: {}\n", reply.shown()).unwrap();
    }

    insta::assert_snapshot!("not_offered", shown);
}

#[tokio::test]
async fn errors_that_no_handler_makes_have_the_same_shape() {
    let service = Service::around(Canned::new()).await;
    let large = json!({"service_id": "x".repeat(200_000)});
    let replies = [
        ("no route", service.call("GET", "/v2/nothing").await),
        ("no route either", service.call("GET", "/oauth/v2/nothing").await),
        ("no method", service.call("POST", INSTANCE).await),
        ("too large", service.put(&format!("{INSTANCE}?{WAITING}"), &large).await),
        ("panic", service.call("GET", "/oauth/breaking/v2/catalog").await),
        ("path", service.call("GET", "/oauth/v2/service_instances/%ff").await),
    ];
    let mut shown = String::new();

    for (name, reply) in replies {
        writeln!(shown, "{name}: {}\n", reply.shown()).unwrap();
    }

    insta::assert_snapshot!("unhandled", shown);
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_told_what_is_wrong_with_them() {
    let canned = Canned::new();
    let service = Service::around(canned.clone()).await;
    let table = [
        ("", "the body is empty"),
        ("{", "the body is not JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "the body is not a JSON object"),
        ("null", "the body is not a JSON object"),
        ("{} {}", "the body is not JSON: trailing characters at line 1 column 4"),
        (r#"{"service_id": 1}"#, "service_id is not a string"),
        (r#"{"plan_id": ["hush"]}"#, "plan_id is not a string"),
        (r#"{"context": "hush"}"#, "context is not an object"),
        (r#"{"parameters": "hush"}"#, "parameters is not an object"),
        (r#"{"maintenance_info": 3}"#, "maintenance_info is not an object"),
    ];

    for (body, expected) in table {
        let request = service.request("PUT", &format!("{INSTANCE}?{WAITING}"));
        let reply = service.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(reply.description(), expected, "{body}");
    }
    assert!(canned.calls().is_empty());
}

#[tokio::test]
async fn nobody_comes_in_with_a_password_when_none_is_configured() {
    let keys = KeyServer::start().await;
    let parts = Parts {
        instances: Canned::new(),
        verifier: std::sync::Arc::new(keys.verifier()),
        platforms: vec![],
        assume_async: false,
    };
    let routes = shielded(platforms(parts), Limits::DEFAULT);
    let request = Request::get("/v2/catalog")
        .header("x-broker-api-version", "2.17")
        .header("authorization", crate::service::basic("", ""));

    let response = routes.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();

    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_description_is_never_as_long_as_what_was_sent() {
    let service = Service::around(Canned::new()).await;
    let canned = Canned::new();
    let refusing = Service::around(canned.clone()).await;
    canned.refuse(|| Error::Bad("x".repeat(900_000)));

    let refused = refusing.call("DELETE", &format!("{INSTANCE}?{HINTS}")).await;
    let missing = service.call("GET", &format!("/oauth/v2/{}", "x".repeat(60_000))).await;

    assert_eq!(refused.description().chars().count(), 1_000);
    assert!(refused.description().ends_with('…'));
    assert!(missing.text.len() < 2_000, "{}", missing.text.len());
}
