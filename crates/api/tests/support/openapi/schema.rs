//! Schemas in a document, and whether what they refer to is there.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::Components;

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Schema {
    #[serde(rename = "$ref")]
    pub(super) reference: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "description")]
    pub(super) _description: Option<String>,
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
    pub(super) required: BTreeSet<String>,
    #[serde(default)]
    properties: BTreeMap<String, Schema>,
    items: Option<Box<Schema>>,
    additional_properties: Option<Box<Schema>>,
}

pub(super) fn check_schema(schema: &Schema, components: &Components) {
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

pub(super) fn target<'a>(reference: &'a str, kind: &str) -> &'a str {
    let prefix = format!("#/components/{kind}/");
    reference.strip_prefix(prefix.as_str()).unwrap_or_else(|| panic!("{reference} is no {kind}"))
}
