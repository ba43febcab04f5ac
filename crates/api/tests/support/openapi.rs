//! Whether a text is a document of `OpenAPI`: what it may say is written down here, and anything else is refused.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

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
#[serde(deny_unknown_fields)]
struct PathItem {
    #[serde(default)]
    parameters: Vec<Parameter>,
    get: Option<Operation>,
    put: Option<Operation>,
    post: Option<Operation>,
    patch: Option<Operation>,
    delete: Option<Operation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Operation {
    #[serde(rename = "operationId")]
    id: String,
    summary: String,
    #[serde(rename = "description")]
    _description: Option<String>,
    #[serde(default)]
    parameters: Vec<Parameter>,
    request_body: Option<Body>,
    responses: BTreeMap<String, Response>,
    #[serde(default)]
    security: Vec<BTreeMap<String, Vec<String>>>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Parameter {
    #[serde(rename = "$ref")]
    reference: Option<String>,
    name: Option<String>,
    #[serde(rename = "in")]
    place: Option<String>,
    #[serde(default)]
    required: bool,
    #[serde(rename = "description")]
    _description: Option<String>,
    schema: Option<Schema>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    #[serde(rename = "required")]
    _required: bool,
    content: BTreeMap<String, Media>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Response {
    #[serde(rename = "$ref")]
    reference: Option<String>,
    description: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, Header>,
    #[serde(default)]
    content: BTreeMap<String, Media>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(rename = "description")]
    _description: Option<String>,
    schema: Schema,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Media {
    schema: Schema,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Schema {
    #[serde(rename = "$ref")]
    reference: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "description")]
    _description: Option<String>,
    #[serde(rename = "format")]
    _format: Option<String>,
    #[serde(rename = "example")]
    _example: Option<Value>,
    #[serde(rename = "default")]
    _default: Option<Value>,
    #[serde(rename = "enum")]
    _options: Option<Vec<Value>>,
    #[serde(rename = "pattern")]
    _pattern: Option<String>,
    #[serde(rename = "minLength")]
    _min_length: Option<u64>,
    #[serde(rename = "maxLength")]
    _max_length: Option<u64>,
    #[serde(rename = "minimum")]
    _minimum: Option<f64>,
    #[serde(rename = "maximum")]
    _maximum: Option<f64>,
    #[serde(rename = "nullable")]
    _nullable: Option<bool>,
    #[serde(default)]
    required: BTreeSet<String>,
    #[serde(default)]
    properties: BTreeMap<String, Schema>,
    items: Option<Box<Schema>>,
    additional_properties: Option<Box<Schema>>,
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

fn check_operation(
    path: &str,
    operation: &Operation,
    shared: &[Parameter],
    components: &Components,
    always: &[&str],
) {
    assert!(!operation.summary.is_empty());
    let mut named = BTreeSet::new();
    for parameter in shared.iter().chain(&operation.parameters) {
        let parameter = match parameter.reference.as_deref() {
            Some(reference) => &components.parameters[target(reference, "parameters")],
            None => parameter,
        };
        let (Some(name), Some(place)) = (&parameter.name, &parameter.place) else {
            panic!("{path} has a parameter without a name or a place")
        };
        assert!(named.insert((place.as_str(), name.as_str())), "{path} has {name} twice");
        assert!(place != "path" || parameter.required, "{name} in a path is always there");
        check_schema(parameter.schema.as_ref().expect("a parameter has a schema"), components);
    }
    for name in placeholders(path) {
        assert!(named.contains(&("path", name)), "{path} does not explain {name}");
    }
    for media in operation.request_body.iter().flat_map(|body| body.content.values()) {
        check_schema(&media.schema, components);
    }
    let with_body = operation.request_body.iter().flat_map(|_| ["408", "413"]);
    // Health is answered even when everything else is sent away.
    let shed = (path != "/healthz").then_some("503");
    let shield = ["431", "500", "504"].into_iter().chain(shed).chain(with_body);
    for status in shield.chain(always.iter().copied()) {
        let known = operation.responses.contains_key(status);
        assert!(known, "{} does not say what {status} means", operation.id);
    }
    operation.responses.values().for_each(|response| check_response(response, components));
}

fn check_response(response: &Response, components: &Components) {
    if let Some(reference) = &response.reference {
        let name = target(reference, "responses");
        assert!(components.responses.contains_key(name), "{reference} leads nowhere");
        return;
    }
    assert!(response.description.as_ref().is_some_and(|text| !text.is_empty()));
    response.headers.values().for_each(|header| check_schema(&header.schema, components));
    response.content.values().for_each(|media| check_schema(&media.schema, components));
}

fn check_schema(schema: &Schema, components: &Components) {
    if let Some(reference) = &schema.reference {
        let name = target(reference, "schemas");
        assert!(components.schemas.contains_key(name), "{reference} leads nowhere");
        return;
    }
    if let Some(kind) = schema.kind.as_deref() {
        assert!(["object", "array", "string", "integer", "number", "boolean"].contains(&kind));
        assert_eq!(kind == "array", schema.items.is_some());
    }
    if !schema.properties.is_empty() {
        for required in &schema.required {
            assert!(schema.properties.contains_key(required), "{required} is not described");
        }
    }
    let inner = schema.properties.values().chain(schema.items.as_deref());
    inner
        .chain(schema.additional_properties.as_deref())
        .for_each(|it| check_schema(it, components));
}

fn target<'a>(reference: &'a str, kind: &str) -> &'a str {
    let prefix = format!("#/components/{kind}/");
    reference.strip_prefix(prefix.as_str()).unwrap_or_else(|| panic!("{reference} is no {kind}"))
}

fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}
