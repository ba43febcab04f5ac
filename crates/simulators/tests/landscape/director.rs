//! The Director's conformance: its operations and its refusals.

mod access;

use serde_json::{Value, json};

use crate::world::{TENANT, World, json, send, status};

/// Sends a query with the values in its text, as the older clients do; `<id>` stands for the id.
async fn ask(world: &World, query: &str, id: &str) -> Value {
    json(world.graphql(TENANT, &query.replace("<id>", id), &Value::Null)).await
}

fn code(answer: &Value) -> i64 {
    answer["errors"][0]["extensions"]["error_code"].as_i64().unwrap_or_else(|| panic!("{answer}"))
}

const REGISTER: &str = r#"mutation { result: registerRuntime(in: { name: "my-runtime"
    description: "a \"b\"" labels: { broker_instance_id: "i-1", nested: { a: [1, true] } }
    statusCondition: INITIAL }) { id } }"#;
const READ: &str = r#"query { result: runtime(id: "<id>") { id name description labels } }"#;
const FIND: &str = r#"query { result: runtimes(filter: { key: "broker_instance_id"
    query: "\"i-1\"" }) { data { id } } }"#;
const UPDATE: &str = r#"mutation { result: updateRuntime(id: "<id>" in: { name: "my-runtime"
    labels: { gardenerClusterDomain: "c-1.example.com" } statusCondition: PROVISIONING }) { id } }"#;
const UNREGISTER: &str = r#"mutation { result: unregisterRuntime(id: "<id>") { id } }"#;
const TOKEN: &str =
    r#"mutation { result: requestOneTimeTokenForRuntime(id: "<id>") { token connectorURL } }"#;
const LABEL: &str = r#"mutation { result: setRuntimeLabel(runtimeID: "<id>", key: "not-allowed",
    value: "https://g") { key value } }"#;
const DASHBOARD: &str = r#"query { result: runtime(id: "<id>") { id
    labels(key: "runtime_consoleUrl") status { condition } } }"#;

#[tokio::test]
async fn a_runtime_goes_through_its_life_with_values_in_the_text() {
    let world = World::new().await;
    let registered = ask(&world, REGISTER, "").await;
    let id = registered["data"]["result"]["id"].as_str().unwrap().to_owned();

    let read = ask(&world, READ, &id).await["data"]["result"].clone();
    assert_eq!(read["name"], "my-runtime");
    assert_eq!(read["description"], "a \"b\"");
    let labels = json!({
        "broker_instance_id": "i-1", "nested": { "a": [1, true] }, "scenarios": ["DEFAULT"],
    });
    assert_eq!(read["labels"], labels);
    let found = ask(&world, FIND, "").await;
    assert_eq!(found["data"]["result"]["data"], json!([{ "id": id }]));
    let token = ask(&world, TOKEN, &id).await["data"]["result"].clone();
    assert!(token["token"].is_string() && token["connectorURL"].is_string());

    assert_eq!(ask(&world, UPDATE, &id).await["data"]["result"]["id"], json!(id));
    let read = ask(&world, READ, &id).await["data"]["result"].clone();
    assert_eq!(read["labels"], json!({ "gardenerClusterDomain": "c-1.example.com" }));
    assert_eq!(read["description"], Value::Null);

    assert_eq!(ask(&world, UNREGISTER, &id).await["data"]["result"]["id"], json!(id));
    assert_eq!(ask(&world, READ, &id).await, json!({ "data": { "result": null } }));
    let again = ask(&world, UNREGISTER, &id).await;
    let message = format!("Object not found [object=runtime; ID={id}]");
    let refusal = json!({
        "errors": [{
            "message": message,
            "path": ["result"],
            "extensions": { "error_code": 20, "error": "NotFound" },
        }],
        "data": null,
    });
    assert_eq!(again, refusal);
}

#[tokio::test]
async fn labels_are_set_one_by_one_and_are_null_when_there_are_none() {
    let world = World::new().await;
    let id = world.registered("labelled").await;
    let update = "mutation ($id: ID!, $in: RuntimeUpdateInput!) \
                  { result: updateRuntime(id: $id, in: $in) { labels } }";
    let variables = json!({ "id": id, "in": { "name": "labelled" } });
    let updated = json(world.graphql(TENANT, update, &variables)).await;

    let set = "mutation ($id: ID!, $key: String!, $value: Any!) \
               { result: setRuntimeLabel(runtimeID: $id, key: $key, value: $value) { key value } }";
    let hostile = "\"\\ \n ü".to_owned() + &"x".repeat(10_000);
    let variables = json!({ "id": id, "key": "operator_grafanaUrl", "value": hostile });
    let label = json(world.graphql(TENANT, set, &variables)).await;

    assert_eq!(updated["data"]["result"]["labels"], Value::Null);
    assert_eq!(label["data"]["result"]["value"], json!(hostile));
    assert_eq!(world.runtime(&id).await["labels"], json!({ "operator_grafanaUrl": hostile }));
}

#[tokio::test]
async fn refusals_carry_the_directors_codes() {
    let world = World::new().await;
    world.registered("taken").await;
    let name = |name: &str| {
        format!("mutation {{ result: registerRuntime(in: {{ name: {name:?} }}) {{ id }} }}")
    };
    let long = name(&"a".repeat(37));
    let missing = "00000000-0000-4000-8000-000000000000";

    let table: Vec<(&str, String, i64)> = vec![
        (TENANT, name("taken"), 21),
        (TENANT, name("1digit"), 22),
        (TENANT, name("Upper"), 22),
        (TENANT, long, 22),
        (TENANT, LABEL.replace("<id>", missing), 22),
        (TENANT, UPDATE.replace("<id>", missing), 20),
        (TENANT, UNREGISTER.replace("<id>", missing), 20),
        (TENANT, TOKEN.replace("<id>", missing), 20),
        ("", name("a"), 24),
        ("unknown", name("a"), 25),
    ];

    for (tenant, query, expected) in table {
        let answer = send(world.graphql(tenant, &query, &Value::Null)).await;
        assert_eq!(answer.status(), 200, "{query}");
        assert_eq!(code(&answer.json().await.unwrap()), expected, "{query}");
    }
    let nonsense = world.graphql(TENANT, "{ result: nothing }", &Value::Null);
    assert_eq!(status(nonsense).await, 422);
}
