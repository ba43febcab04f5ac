//! The Director: golden requests, its codes, lost answers, hostile names.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use clients::{
    CallLimits, Grant, Kind, TokenSource,
    director::{Change, Condition, Director, Registration},
};
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};

use crate::support::{Journal, answering, http, lost, noon};

fn registration(name: &str) -> Registration {
    Registration {
        name: name.into(),
        description: Some("a \"runtime\"".into()),
        labels: labels(&json!({"broker_instance_id": "i-1", "global_subaccount_id": "sa"})),
        condition: Some(Condition::Provisioning),
    }
}

fn labels(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn data(result: &Value) -> Response {
    Json(json!({"data": {"result": result}})).into_response()
}

fn error(code: &Value) -> Response {
    let extensions = json!({"error_code": code});
    let errors = json!([{"message": "no", "path": ["result"], "extensions": extensions}, {}]);
    Json(json!({"errors": errors, "data": null})).into_response()
}

async fn director<F>(answer: F) -> (Director, Journal)
where
    F: Fn(usize, Value) -> Response + Clone + Send + Sync + 'static,
{
    let (url, journal) = answering(move |number, heard| answer(number, heard.json())).await;
    (Director::new(http(url.join("/graphql").unwrap(), CallLimits::DEFAULT, &noon())), journal)
}

#[tokio::test]
async fn requests_are_what_the_director_documents() {
    let (director, heard) = director(|number, _| match number {
        1 => data(&json!({"data": []})),
        3 => {
            data(&json!({"id": "r-1", "name": "c-1", "labels": {"scenarios": ["DEFAULT"], "a": 1}}))
        }
        5 => data(&json!({"token": "once", "connectorURL": "https://connector"})),
        6 => data(&json!({"key": "k", "value": "v"})),
        _ => data(&json!({"id": "r-1"})),
    })
    .await;
    let change = Change { labels: labels(&json!({"a": 2})), condition: Some(Condition::Connected) };

    director.register("ga", &registration("c-1")).await.unwrap();
    director.update("ga", "r-1", &change).await.unwrap();
    let token = director.one_time_token("ga", "r-1").await.unwrap();
    director.set_label("ga", "r-1", "k", &json!("v")).await.unwrap();
    director.unregister("ga", "r-1").await.unwrap();

    assert_eq!(token.token.expose_secret(), "once");
    let golden = [
        (
            "query ($filter: [LabelFilter!]) { result: runtimes(filter: $filter) { data { id } } }",
            json!({"filter": [{"key": "broker_instance_id", "query": "\"i-1\""}]}),
        ),
        (
            "mutation ($in: RuntimeRegisterInput!) { result: registerRuntime(in: $in) { id } }",
            json!({"in": {"name": "c-1", "description": "a \"runtime\"",
                "labels": {"broker_instance_id": "i-1", "global_subaccount_id": "sa"},
                "statusCondition": "PROVISIONING"}}),
        ),
        (
            "query ($id: ID!) { result: runtime(id: $id) { id name description labels } }",
            json!({"id": "r-1"}),
        ),
        (
            "mutation ($id: ID!, $in: RuntimeUpdateInput!) { result: updateRuntime(id: $id, in: $in) { id } }",
            json!({"id": "r-1", "in": {"name": "c-1", "statusCondition": "CONNECTED",
                "labels": {"scenarios": ["DEFAULT"], "a": 2}}}),
        ),
        (
            "mutation ($id: ID!) { result: requestOneTimeTokenForRuntime(id: $id) { token connectorURL } }",
            json!({"id": "r-1"}),
        ),
        (
            "mutation ($id: ID!, $key: String!, $value: Any!) { result: setRuntimeLabel(runtimeID: $id, key: $key, value: $value) { key value } }",
            json!({"id": "r-1", "key": "k", "value": "v"}),
        ),
        ("mutation ($id: ID!) { result: unregisterRuntime(id: $id) { id } }", json!({"id": "r-1"})),
    ];
    for (heard, (query, variables)) in heard.all().iter().zip(&golden) {
        assert_eq!(heard.json(), json!({"query": query, "variables": variables}));
        assert_eq!((heard.method.as_str(), heard.path.as_str()), ("POST", "/graphql"));
        assert_eq!(heard.header("tenant"), Some("ga"));
        assert_eq!(heard.header("content-type"), Some("application/json; charset=utf-8"));
        assert_eq!(heard.header("accept"), Some("application/json; charset=utf-8"));
    }
    assert_eq!(heard.len(), golden.len());
}

#[tokio::test]
async fn codes_and_envelopes_are_classified() {
    let refused = Kind::Refused { status: 400 };
    let table = [
        (error(&json!(10)), Kind::Unavailable, "InternalError"),
        (error(&json!(20)), Kind::NotFound, "NotFound"),
        (error(&json!(21)), Kind::AlreadyExists, "NotUnique"),
        (error(&json!(22)), refused, "InvalidData"),
        (error(&json!(23)), Kind::Unauthorized, "InsufficientScopes"),
        (error(&json!(25)), refused, "TenantNotFound"),
        (error(&json!(26)), Kind::Unauthorized, "Unauthorized"),
        (error(&json!(38)), Kind::Unavailable, "Unrecognised"),
        (error(&json!("x")), Kind::Unavailable, "Unrecognised"),
        (Json(json!({"data": null})).into_response(), Kind::Malformed, ""),
        (Json(json!({"data": {}})).into_response(), Kind::Malformed, ""),
        (data(&Value::Null), Kind::Malformed, ""),
        (data(&json!({"token": 5})), Kind::Malformed, ""),
        ("<html>".into_response(), Kind::Malformed, ""),
        ((StatusCode::BAD_GATEWAY, "<html>").into_response(), Kind::Unavailable, ""),
        (
            (StatusCode::BAD_GATEWAY, error(&json!(20))).into_response(),
            Kind::Unavailable,
            "NotFound",
        ),
        ((StatusCode::NOT_FOUND, "").into_response(), Kind::Refused { status: 404 }, ""),
        (
            (StatusCode::INTERNAL_SERVER_ERROR, Json(json!({"data": null}))).into_response(),
            Kind::Unavailable,
            "",
        ),
    ];

    for (answer, kind, reason) in table {
        let answer = Arc::new(Mutex::new(Some(answer)));
        let (director, _) = director(move |_, _| answer.lock().unwrap().take().unwrap()).await;

        let error = director.one_time_token("ga", "r-1").await.unwrap_err();

        assert_eq!((error.kind, error.reason.as_deref().unwrap_or_default()), (kind, reason));
        assert_eq!(&*error.doing, "getting a one-time token for runtime r-1");
    }
}

#[tokio::test]
async fn a_runtime_that_is_gone_is_gone() {
    for answer in [error(&json!(20)), error(&json!(25)), data(&Value::Null)] {
        let answer = Arc::new(Mutex::new(Some(answer)));
        let (director, _) = director(move |_, _| answer.lock().unwrap().take().unwrap()).await;

        director.unregister("ga", "r-1").await.unwrap();
    }
    let (director, _) = director(|_, _| data(&Value::Null)).await;
    assert_eq!(director.runtime("ga", "r-1").await.unwrap(), None);
}

#[tokio::test]
async fn an_answer_for_another_runtime_is_not_believed() {
    let (director, _) = director(|_, _| data(&json!({"id": "r-2", "name": "c-2"}))).await;

    assert_eq!(director.unregister("ga", "r-1").await.unwrap_err().kind, Kind::Malformed);
    assert_eq!(director.runtime("ga", "r-1").await.unwrap_err().kind, Kind::Malformed);
}

/// A Director that keeps runtimes by the label of their instance and loses its first answer to a change.
async fn forgetful() -> (Director, Arc<Mutex<BTreeMap<String, Vec<String>>>>) {
    let runtimes: Arc<Mutex<BTreeMap<String, Vec<String>>>> = Arc::default();
    let kept = runtimes.clone();
    let loses = Arc::new(Mutex::new(true));
    let (director, _) = director(move |_, asked| {
        let mut kept = kept.lock().unwrap();
        let variables = &asked["variables"];
        if asked["query"].as_str().unwrap().starts_with("query") {
            let label: String =
                serde_json::from_str(variables["filter"][0]["query"].as_str().unwrap()).unwrap();
            let found = kept.get(&label).cloned().unwrap_or_default();
            let found: Vec<_> = found.iter().map(|id| json!({"id": id})).collect();
            return data(&json!({"data": found}));
        }
        let instance = variables["in"]["labels"]["broker_instance_id"].as_str().unwrap();
        let ids = kept.entry(instance.into()).or_default();
        ids.push(format!("r-{}", ids.len() + 1));
        if std::mem::take(&mut *loses.lock().unwrap()) {
            return lost();
        }
        data(&json!({"id": ids.last()}))
    })
    .await;
    (director, runtimes)
}

#[tokio::test]
async fn a_registration_whose_answer_was_lost_is_found_again() {
    let (director, runtimes) = forgetful().await;

    let first = director.register("ga", &registration("c-1")).await;
    assert_eq!(first.unwrap_err().kind, Kind::AnswerLost);

    // Steps run on any thread.
    let other = director.clone();
    let again = tokio::spawn(async move { other.register("ga", &registration("c-1")).await });
    assert_eq!(again.await.unwrap().unwrap(), "r-1");
    assert_eq!(director.register("ga", &registration("c-1")).await.unwrap(), "r-1");
    assert_eq!(runtimes.lock().unwrap()["i-1"].len(), 1);
}

#[tokio::test]
async fn hostile_names_arrive_as_they_are() {
    let long = "ü".repeat(5_000);
    let names = ["\"} { x }", "back\\slash", "new\nline", "$in", "\u{0}", "𝕏", long.as_str()];

    for name in names {
        let (director, heard) = director(|_, _| data(&json!({"data": [{"id": "r-1"}]}))).await;
        director.find_by_instance("ga", name).await.unwrap();

        let asked = heard.last().json();
        let query = asked["variables"]["filter"][0]["query"].as_str().unwrap().to_owned();
        assert_eq!(serde_json::from_str::<String>(&query).unwrap(), name);
        assert!(!asked["query"].as_str().unwrap().contains(name));
        let error = director.find_by_instance("ga\r\nx-evil: 1", name).await.unwrap_err();
        assert_eq!(error.kind, Kind::Refused { status: 400 });
    }
}

#[tokio::test]
async fn a_token_that_the_director_refuses_in_its_own_words_is_renewed() {
    let (issuer, issued) = answering(|number, _| {
        Json(json!({"access_token": format!("t{number}"), "expires_in": 600})).into_response()
    })
    .await;
    let (url, _) = answering(|_, heard| match heard.header("authorization") {
        Some("Bearer t1") => error(&json!(26)),
        _ => data(&Value::Null),
    })
    .await;
    let grant = Grant::ClientCredentials {
        id: "kcp".into(),
        secret: "s".to_owned().into(),
        scope: "runtime:read runtime:write".into(),
    };
    let tokens = TokenSource::new(issuer, grant, noon()).unwrap();
    let director = Director::new(http(url, CallLimits::DEFAULT, &noon()).with_token(tokens));

    assert_eq!(director.runtime("ga", "r-1").await.unwrap_err().kind, Kind::Unauthorized);
    assert_eq!(director.runtime("ga", "r-1").await.unwrap(), None);
    assert_eq!(issued.len(), 2);
}
