//! The Director: golden requests.

mod failures;
mod registrations;

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use clients::{
    CallLimits,
    director::{Change, Condition, Director, Registration},
};
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};

use crate::support::{Journal, answering, http, noon};

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
