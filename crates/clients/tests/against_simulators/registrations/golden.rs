//! C1: every request is what the systems document, byte for byte where bytes matter.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use url::Url;

use super::{
    calls,
    support::{RecordedRequest, answering, noon},
    test_systems::TestSystems,
};

/// An issuer whose every token is `t1`, `t2` …
pub(crate) async fn issuer() -> (Url, super::support::Journal) {
    answering(|number, _| {
        Json(json!({"access_token": format!("t{number}"), "expires_in": 600})).into_response()
    })
    .await
}

pub(crate) fn answer((status, body): (u16, &'static str)) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, [("content-type", "application/json")], body).into_response()
}

fn credentials(system: &str, heard: &RecordedRequest) -> bool {
    match system {
        "avs" | "edp" => heard.header("authorization") == Some("Bearer t1"),
        // kcp-ias:kcp-ias-secret
        "ias" => heard.header("authorization") == Some("Basic a2NwLWlhczprY3AtaWFzLXNlY3JldA=="),
        "lms" => heard.header("x-lms-token") == Some("kcp-lms-token"),
        _ => heard.header("authorization").is_none(),
    }
}

#[tokio::test]
async fn requests_are_what_the_systems_document() {
    for call in calls::all() {
        let (issuer, _) = issuer().await;
        let (systems, heard) = answering(move |_, _| answer(call.answer)).await;
        let place = TestSystems::new(systems.clone(), issuer, &noon());

        (call.make)(place).await.unwrap_or_else(|error| panic!("{}: {error}", call.name));

        assert_eq!(heard.len(), 1, "{}", call.name);
        let heard = heard.last();
        let query =
            if heard.query.is_empty() { String::new() } else { format!("?{}", heard.query) };
        assert_eq!(format!("{} {}{query}", heard.method, heard.path), call.asked);
        assert!(credentials(&call.name[..3], &heard), "{}", call.name);
        let Some(body) = call.body else {
            assert_eq!(heard.body, "", "{}", call.name);
            continue;
        };
        if body.starts_with(['{', '"']) {
            assert_eq!(heard.header("content-type"), Some("application/json"), "{}", call.name);
            let base = systems.as_str().trim_end_matches('/');
            let body: Value = serde_json::from_str(&body.replace("<systems>", base)).unwrap();
            assert_eq!(heard.json(), body, "{}", call.name);
        } else {
            let form = Some("application/x-www-form-urlencoded");
            assert_eq!(heard.header("content-type"), form);
            assert_eq!(heard.body, body);
        }
    }
}

#[tokio::test]
async fn tokens_are_asked_for_in_the_form_each_system_wants() {
    let (issuer, asked) = issuer().await;
    let (systems, _) = answering(|_, _| answer((200, "[]"))).await;
    let place = TestSystems::new(systems, issuer, &noon());

    let _ = place.avs().get(1).await;
    let _ = place.edp().metadata(&clients::edp::Tenant::of_subaccount("a")).await;

    let asked = asked.all();
    assert_eq!(asked[0].path, "/oauth2/token");
    // The client's id, and no secret.
    assert_eq!(asked[0].header("authorization"), Some("Basic a2NwOg=="));
    assert_eq!(asked[0].body, "grant_type=password&username=admin&password=pass+word");
    assert_eq!(asked[1].path, "/oauth2/token");
    // edp-namespace%3Bkcp:edp+secret
    let basic = "Basic ZWRwLW5hbWVzcGFjZSUzQmtjcDplZHArc2VjcmV0";
    assert_eq!(asked[1].header("authorization"), Some(basic));
    let form = "grant_type=client_credentials&scope=edp-namespace.read+edp-namespace.update";
    assert_eq!(asked[1].body, form);
}
