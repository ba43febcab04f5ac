//! The published document and the routes say the same.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{FORM, Service, body, support::openapi};

const DOCUMENT: &str = include_str!("../../../../docs/openapi/orchestrations.yaml");
const METHODS: [&str; 5] = ["get", "put", "post", "patch", "delete"];

/// Every field is described, and those that are always there are.
fn fits(schemas: &Value, name: &str, value: &Value) {
    let schema = &schemas[name];
    if let Some(options) = schema["enum"].as_array() {
        return assert!(options.contains(value), "{name} is {value}");
    }
    let fields = value.as_object().unwrap_or_else(|| panic!("{name} is {value}"));
    for required in schema["required"].as_array().into_iter().flatten() {
        assert!(fields.contains_key(required.as_str().unwrap()), "{name} lacks {required}");
    }
    for (field, value) in fields {
        let described = schema["properties"].get(field);
        let described = described.unwrap_or_else(|| panic!("{name} has {field}"));
        match (reference(described), reference(&described["items"])) {
            (Some(inner), _) => fits(schemas, inner, value),
            (_, Some(inner)) => {
                value.as_array().into_iter().flatten().for_each(|it| fits(schemas, inner, it));
            }
            _ => {}
        }
    }
}

fn reference(described: &Value) -> Option<&str> {
    described["$ref"].as_str()?.rsplit('/').next()
}

/// The schema of the one good answer of an operation, and its status.
fn answer(operation: &Value) -> (u16, &str) {
    let responses = operation["responses"].as_object().unwrap();
    let (status, good) = responses.iter().find(|(status, _)| status.starts_with('2')).unwrap();
    let schema = &good["content"]["application/json"]["schema"];
    (status.parse().unwrap(), reference(schema).unwrap())
}

#[test]
fn the_document_is_valid_and_says_what_every_status_means() {
    openapi::is_valid(DOCUMENT, &["400", "401", "403", "500", "503"]);
}

#[tokio::test]
async fn every_route_answers_as_the_document_says_and_no_other_method_is_there() {
    let document: Value = serde_saphyr::from_str(DOCUMENT).unwrap();
    let schemas = &document["components"]["schemas"];
    let service = Service::start().await;
    service.made(1).await;
    let good = body("now", 1, Some(json!({})));
    let (_, created) = service.post("/upgrade/kyma", &good).await;
    let id = created["orchestrationID"].as_str().unwrap();

    for (path, item) in document["paths"].as_object().unwrap() {
        let at = path.replace("{id}", id).replace("{operation}", "nope");
        for method in METHODS {
            let (content, body) = match path.rsplit('/').next().unwrap() {
                "retry" => (FORM, String::new()),
                "workers" => ("application/json", json!({ "workers": 2 }).to_string()),
                _ => ("application/json", good.to_string()),
            };
            let method_sent = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let (status, said) = service.raw(method_sent, &at, content, &body).await;
            let Some(operation) = item.get(method) else {
                assert_eq!(status, 405, "{method} {path}");
                continue;
            };
            let (expected, schema) = answer(operation);
            match status {
                found if found == expected => fits(schemas, schema, &said),
                refused => {
                    let known = operation["responses"].get(refused.to_string());
                    assert!(known.is_some(), "{method} {path}: {refused} {said}");
                    fits(schemas, "Error", &said);
                }
            }
        }
    }
}
