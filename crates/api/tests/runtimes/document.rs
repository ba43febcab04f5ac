//! The published document and the route say the same.

use serde_json::Value;

use crate::{fleet::Fleet, support::openapi};

const DOCUMENT: &str = include_str!("../../../../docs/openapi/runtimes.yaml");

/// Every field is described, and those that are always there are.
fn fits(schemas: &Value, name: &str, value: &Value) {
    let schema = &schemas[name];
    let fields = value.as_object().unwrap();
    for required in schema["required"].as_array().unwrap() {
        assert!(fields.contains_key(required.as_str().unwrap()), "{name} lacks {required}");
    }
    for (field, value) in fields {
        let described = schema["properties"].get(field);
        let described = described.unwrap_or_else(|| panic!("{name} has {field}"));
        let named = |described: &Value| {
            let path = described["$ref"].as_str()?;
            path.rsplit('/').next().map(str::to_owned)
        };
        match named(described) {
            Some(name) if schemas[&name]["type"] == "object" => fits(schemas, &name, value),
            Some(name) => assert!(schemas[&name]["enum"].as_array().unwrap().contains(value)),
            None => {}
        }
    }
}

pub(crate) async fn the_answer_is_as_the_document_says(fleet: Fleet) {
    let document: Value = serde_saphyr::from_str(DOCUMENT).unwrap();
    let route = &document["paths"]["/runtimes"];
    fleet.order("i-1", "ga-1").await;

    let (status, page) = fleet.ask("").await;

    assert!(route["get"]["responses"].get(status.as_str()).is_some());
    let schemas = &document["components"]["schemas"];
    fits(schemas, "Page", &page);
    fits(schemas, "Runtime", &page["data"][0]);
    for method in ["put", "post", "delete", "patch"] {
        let token = fleet.token(&["runtimes:read", "tenants:any"], None);
        let (status, _) = fleet.send(method, "", Some(&token)).await;
        assert_eq!((status.as_u16(), route.get(method)), (405, None), "{method}");
    }
    for parameter in route["get"]["parameters"].as_array().unwrap() {
        let name = name_of(parameter);
        let (status, body) = fleet.ask(&format!("?{name}=%20")).await;
        let error = body["error"].as_str().unwrap_or_default();
        assert!(!error.contains("is not known here"), "{name}: {status} {body}");
    }
    assert_eq!(document["paths"].as_object().unwrap().len(), 3);
}

/// The name of a parameter, or of the one that it refers to, which is the same.
fn name_of(parameter: &Value) -> &str {
    let named = parameter["name"].as_str();
    named.or_else(|| parameter["$ref"].as_str()?.rsplit('/').next()).unwrap()
}

pub(crate) async fn export_and_metering_are_as_the_document_says(fleet: Fleet) {
    let document: Value = serde_saphyr::from_str(DOCUMENT).unwrap();
    let schemas = &document["components"]["schemas"];
    fleet.order("i-1", "ga-1").await;

    let exported = fleet.export("").await;
    let (_, infos) = fleet.infos(&fleet.token(&["cld:read", "tenants:any"], None)).await;

    fits(schemas, "Runtime", &serde_json::from_str(&exported).unwrap());
    fits(schemas, "RuntimeInfo", &infos[0]);
    for parameter in document["paths"]["/runtimes/export"]["get"]["parameters"].as_array().unwrap()
    {
        let name = name_of(parameter);
        let (status, body) = fleet.ask(&format!("/export?{name}=nonsense")).await;
        let error = body["error"].as_str().unwrap_or_default();
        assert!(!error.contains("is not known here"), "{name}: {status} {body}");
    }
}

#[test]
fn the_document_is_valid_and_says_what_every_status_means() {
    openapi::is_valid(DOCUMENT, &["200", "400", "401", "403", "431", "500", "503", "504"]);
}
