//! Whether a text is a document of `OpenAPI`: what it may say is written down here, and anything else is refused.

mod operation;
mod operation_checks;
mod schema;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use self::{
    operation::{Parameter, PathItem, Response},
    operation_checks::{check_operation, check_response, placeholders},
    schema::{Schema, check_schema},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    openapi: String,
    info: Info,
    #[serde(default)]
    servers: Vec<Server>,
    #[serde(default)]
    security: Vec<BTreeMap<String, Vec<String>>>,
    paths: BTreeMap<String, PathItem>,
    components: Components,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Info {
    title: String,
    version: String,
    #[serde(rename = "description")]
    _description: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    url: String,
    #[serde(rename = "description")]
    _description: Option<String>,
    #[serde(default)]
    variables: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Components {
    security_schemes: BTreeMap<String, Value>,
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
    #[serde(default)]
    responses: BTreeMap<String, Response>,
    schemas: BTreeMap<String, Schema>,
}

/// Fails unless the text is a document whose references lead somewhere and whose operations answer at least with these statuses
/// and with those of the layers around all routes.
///
/// # Panics
/// With what is wrong.
pub(crate) fn is_valid(text: &str, always: &[&str]) {
    let document: Document = serde_saphyr::from_str(text).expect("it is no OpenAPI document");
    let components = &document.components;
    assert!(document.openapi.starts_with("3.0."));
    assert!(!document.info.title.is_empty() && !document.info.version.is_empty());
    for server in &document.servers {
        for name in placeholders(&server.url) {
            assert!(server.variables.contains_key(name), "{} does not explain {name}", server.url);
        }
    }
    for name in document.security.iter().flat_map(BTreeMap::keys) {
        assert!(components.security_schemes.contains_key(name), "nobody knows {name}");
    }
    let mut ids = BTreeSet::new();
    for (path, item) in &document.paths {
        let PathItem { get, put, post, patch, delete, .. } = item;
        for operation in [get, put, post, patch, delete].into_iter().flatten() {
            for name in operation.security.iter().flat_map(BTreeMap::keys) {
                assert!(components.security_schemes.contains_key(name), "nobody knows {name}");
            }
            assert!(ids.insert(&operation.id), "{} is there twice", operation.id);
            check_operation(path, operation, &item.parameters, components, always);
        }
    }
    components.responses.values().for_each(|response| check_response(response, components));
    components.schemas.values().for_each(|schema| check_schema(schema, components));
}
