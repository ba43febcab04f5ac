//! The parts of a document about operations: parameters, bodies and responses.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::schema::Schema;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathItem {
    #[serde(default)]
    pub(super) parameters: Vec<Parameter>,
    pub(super) get: Option<Operation>,
    pub(super) put: Option<Operation>,
    pub(super) post: Option<Operation>,
    pub(super) patch: Option<Operation>,
    pub(super) delete: Option<Operation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Operation {
    #[serde(rename = "operationId")]
    pub(super) id: String,
    pub(super) summary: String,
    #[serde(rename = "description")]
    pub(super) _description: Option<String>,
    #[serde(default)]
    pub(super) parameters: Vec<Parameter>,
    pub(super) request_body: Option<Body>,
    pub(super) responses: BTreeMap<String, Response>,
    #[serde(default)]
    pub(super) security: Vec<BTreeMap<String, Vec<String>>>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameter {
    #[serde(rename = "$ref")]
    pub(super) reference: Option<String>,
    pub(super) name: Option<String>,
    #[serde(rename = "in")]
    pub(super) place: Option<String>,
    #[serde(default)]
    pub(super) required: bool,
    #[serde(rename = "description")]
    pub(super) _description: Option<String>,
    pub(super) schema: Option<Schema>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Body {
    #[serde(rename = "required")]
    _required: bool,
    pub(super) content: BTreeMap<String, Media>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Response {
    #[serde(rename = "$ref")]
    pub(super) reference: Option<String>,
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Header>,
    #[serde(default)]
    pub(super) content: BTreeMap<String, Media>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    #[serde(rename = "description")]
    pub(super) _description: Option<String>,
    pub(super) schema: Schema,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Media {
    pub(super) schema: Schema,
}
