//! `OpenAPI`, as far as `kubectl` needs it: which parameters a PATCH takes, and what `explain` shows.

use axum::{
    Json,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value, json};

use super::explain;
use crate::{Kind, Status, kinds::Kinds};

/// Version 2 has no kinds in it: current clients ask for version 3, and look here only for kinds that
/// are newer than what they have cached. They ask for protobuf: one field, the version.
pub(crate) fn version2(headers: &HeaderMap) -> Response {
    const ASKED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    // The name that is asked for is not one that Go can read in an answer.
    const ANSWERED: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if accept.is_some_and(|accept| accept.starts_with(ASKED)) {
        return ([(header::CONTENT_TYPE, ANSWERED)], &b"\x0a\x032.0"[..]).into_response();
    }
    Json(json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": {},
        "definitions": {},
    }))
    .into_response()
}

/// The list of descriptions.
pub(crate) fn index(kinds: &Kinds, cluster: &str) -> Value {
    let mut paths = Map::new();
    for kind in kinds.all() {
        let path = base(kind);
        let url = format!("/clusters/{cluster}/openapi/v3/{path}");
        paths.insert(path, json!({"serverRelativeURL": url}));
    }
    json!({"paths": paths})
}

/// The description of a group in a version.
pub(crate) fn describe(kinds: &Kinds, group: &str, version: &str) -> Result<Value, Status> {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for kind in kinds.all().filter(|kind| kind.group == group && kind.version == version) {
        let inside = if kind.namespaced { "namespaces/{namespace}/" } else { "" };
        let collection = format!("/{}/{inside}{}", base(kind), kind.plural);
        let identity = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
        let word = schema_name(kind);
        let content = json!({"application/json": {"schema": {"$ref": format!("#/components/schemas/{word}")}}});
        let operation = |verb: &str| {
            json!({
                "operationId": format!("{verb}{}{}", kind.version, kind.kind),
                "responses": {"200": {"description": "OK", "content": content}},
                "x-kubernetes-action": verb,
                "x-kubernetes-group-version-kind": identity,
            })
        };
        let mut patch = operation("patch");
        patch["parameters"] = parameters();
        patch["requestBody"] = json!({"content": {
            "application/merge-patch+json": {"schema": {"type": "object"}},
            "application/json-patch+json": {"schema": {"type": "object"}},
            "application/apply-patch+yaml": {"schema": {"type": "object"}},
        }});
        let mut post = operation("post");
        post["parameters"] = parameters();
        paths.insert(
            format!("{collection}/{{name}}"),
            json!({"get": operation("get"), "patch": patch}),
        );
        paths.insert(collection, json!({"get": operation("list"), "post": post}));
        let mut schema = kind.schema.clone().unwrap_or_else(|| explain::schema(kind));
        if schema.is_object() {
            schema["x-kubernetes-group-version-kind"] = json!([identity]);
        }
        schemas.insert(word, schema);
    }
    if paths.is_empty() {
        return Err(Status::no_such_path());
    }
    Ok(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": schemas},
    }))
}

fn base(kind: &Kind) -> String {
    let prefix = if kind.group.is_empty() { "api" } else { "apis" };
    format!("{prefix}/{}", kind.api_version())
}

fn schema_name(kind: &Kind) -> String {
    let group = if kind.group.is_empty() { "core" } else { &kind.group };
    format!("{group}.{}.{}", kind.version, kind.kind)
}

fn parameters() -> Value {
    let names = ["dryRun", "fieldManager", "fieldValidation", "force"];
    names
        .iter()
        .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string"}}))
        .collect()
}
