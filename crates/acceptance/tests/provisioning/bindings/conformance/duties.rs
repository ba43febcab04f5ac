//! The duties of a broker about bindings, by their ids in the checklist of the protocol: refusals, credentials, many at once.

use axum::http::header;
use serde_json::json;
use simulators::trouble::Kind;

use super::{CONCURRENT, PASSWORD, Platform};

#[tokio::test(flavor = "multi_thread")]
async fn b1_x5_a_bind_that_is_refused_makes_nothing() {
    let platform = Box::pin(Platform::start()).await;
    let order = platform.runtime.order.clone();
    let (service, plan) = (&order.service_id, &order.plan_id);

    for body in [
        json!({"plan_id": plan}),
        json!({"service_id": service}),
        json!({"service_id": "", "plan_id": plan}),
        json!({"service_id": service, "plan_id": 7}),
        json!({"service_id": "another", "plan_id": plan}),
        json!({"service_id": service, "plan_id": "another"}),
        json!({"service_id": service, "plan_id": plan, "parameters": "all"}),
        json!({"service_id": service, "plan_id": plan, "context": []}),
        json!({"service_id": service, "plan_id": plan, "parameters": {"expiration_seconds": 1}}),
        json!({"service_id": service, "plan_id": plan, "parameters": {"expiration_seconds": "long"}}),
        json!({"service_id": service, "plan_id": plan, "parameters": {"noSuchThing": 1}}),
        // B9: of nothing.
        json!({"service_id": service, "plan_id": plan, "predecessor_binding_id": "b-0"}),
    ] {
        let refused = platform.bind("b-1", &body).await;
        assert_eq!(refused.status, 400, "{body}: {}", refused.body);
        assert!(!refused.body["description"].as_str().unwrap().is_empty(), "X2");
    }
    let elsewhere = "/v2/service_instances/none/service_bindings/b-1";
    let missing = platform.send("PUT", elsewhere, Some(&platform.body(&json!({})))).await;
    assert_eq!(missing.status, 404, "{}", missing.body);
    assert_eq!((platform.runtime.made().len(), platform.runtime.stored().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bind_of_a_runtime_that_is_away_is_answered_with_when_to_try_again() {
    let platform = Box::pin(Platform::start()).await;
    platform.runtime.outside.trouble("runtimes", 1_000, Kind::Down { refuse: false });

    let away = platform.bind("b-1", &platform.body(&json!({}))).await;

    assert_eq!(away.status, 503, "{}", away.body);
    assert_eq!(away.headers[header::RETRY_AFTER], "5");
    let description = away.body["description"].as_str().unwrap();
    assert!(description.ends_with("is not available, try again later"), "{description}");
}

#[tokio::test(flavor = "multi_thread")]
async fn h_a2_every_binding_endpoint_needs_the_version_and_credentials() {
    let platform = Box::pin(Platform::start()).await;
    let path = platform.path("b-1");
    let body = platform.body(&json!({}));

    for (method, path, since_2_14) in [
        ("PUT", path.clone(), false),
        ("GET", path.clone(), true),
        ("GET", format!("{path}/last_operation"), true),
        ("DELETE", format!("{path}?{}", platform.hints()), false),
    ] {
        for (version, refused) in
            [(None, true), (Some("1.14"), true), (Some("3.0"), true), (Some("2.13"), since_2_14)]
        {
            let reply = platform.send_as(method, &path, Some(&body), version, PASSWORD).await;
            assert_eq!(
                reply.status == 412,
                refused,
                "{method} {path} {version:?}: {}",
                reply.status
            );
        }
        let denied = platform.send_as(method, &path, Some(&body), Some("2.17"), "wrong").await;
        assert_eq!(denied.status, 401, "{method} {path}");
        assert!(denied.headers.contains_key(header::WWW_AUTHENTICATE));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x8_of_binds_at_once_one_succeeds_and_the_others_are_told_to_come_again() {
    let platform = Box::pin(Platform::start()).await;
    let body = platform.body(&json!({}));

    let all = futures::future::join_all((0..5).map(|_| platform.bind("b-1", &body))).await;

    assert_eq!(all.iter().filter(|it| it.status == 201).count(), 1);
    for reply in all.iter().filter(|it| it.status != 201) {
        if reply.status == 200 {
            continue;
        }
        assert_eq!((reply.status, &reply.body["error"]), (422, &json!("ConcurrencyError")));
        assert_eq!(reply.body["description"], CONCURRENT);
    }
}
