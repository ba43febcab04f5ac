//! The door: who calls, for which tenant, and how answers look.

use std::sync::Arc;

use async_graphql::{Context, PathSegment, Request, ServerError};
use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{Director, SchemaState, error::Refusal};
use crate::issuer::TokenSubject;

const READ: &str = "runtime:read";
const WRITE: &str = "runtime:write";

/// Who calls, and for which tenant.
pub(super) struct Visitor {
    director: Arc<Director>,
    tenant: Option<String>,
    scopes: Vec<String>,
}

impl Visitor {
    /// Lets a caller look.
    pub(super) fn reading<'a>(cx: &Context<'a>) -> Result<(&'a Director, &'a str), Refusal> {
        Self::enter(cx, READ)
    }

    /// Lets a caller change something.
    pub(super) fn writing<'a>(cx: &Context<'a>) -> Result<(&'a Director, &'a str), Refusal> {
        Self::enter(cx, WRITE)
    }

    fn enter<'a>(
        cx: &Context<'a>,
        required: &'static str,
    ) -> Result<(&'a Director, &'a str), Refusal> {
        let visitor: &Self = cx.data_unchecked();
        if !visitor.scopes.iter().any(|scope| scope == required) {
            let actual = visitor.scopes.join(" ");
            return Err(Refusal::InsufficientScopes { required, actual });
        }
        let tenant = visitor.tenant.as_deref().ok_or(Refusal::TenantRequired)?;
        if !visitor.director.knows(tenant) {
            return Err(Refusal::TenantNotFound(tenant.into()));
        }
        Ok((&visitor.director, tenant))
    }
}

/// Answers one GraphQL request.
pub(super) async fn graphql(
    State(SchemaState { director, schema }): State<SchemaState>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let caller = match caller(&director, &headers) {
        Ok(caller) => caller,
        Err(refusal) => return refused(StatusCode::UNAUTHORIZED, &refusal),
    };
    let request: Request = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return not_json(&error),
    };
    if let Err(error) = director.settle() {
        return refused(StatusCode::OK, &error.into());
    }
    let tenant = headers.get("tenant").and_then(|tenant| tenant.to_str().ok());
    let tenant = tenant.filter(|tenant| !tenant.is_empty()).map(str::to_owned);
    let visitor = Visitor { director, tenant, scopes: caller.scopes };
    answer(schema.execute(request.data(visitor)).await)
}

fn caller(director: &Director, headers: &HeaderMap) -> Result<TokenSubject, Refusal> {
    let header = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    let token = header
        .and_then(|header| header.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .ok_or_else(|| Refusal::Unauthorized("no bearer token".into()))?;
    director.issuer.verify(token.1.trim()).map_err(|error| Refusal::Unauthorized(error.to_string()))
}

/// A body that cannot be read.
pub(super) fn not_json(error: &serde_json::Error) -> Response {
    let errors = json!([{ "message": format!("json body could not be decoded: {error}") }]);
    (StatusCode::BAD_REQUEST, Json(json!({ "errors": errors, "data": null }))).into_response()
}

/// A refusal of the whole request.
pub(super) fn refused(status: StatusCode, refusal: &Refusal) -> Response {
    let (code, name) = refusal.code();
    let error = json!({
        "message": refusal.message(),
        "extensions": { "error_code": code, "error": name },
    });
    (status, Json(json!({ "errors": [error], "data": null }))).into_response()
}

/// The Director names no places in the query, and answers 422 to what it cannot even begin.
pub(super) fn answer(done: async_graphql::Response) -> Response {
    let data = done.data.into_json().unwrap_or_default();
    if done.errors.is_empty() {
        return Json(json!({ "data": data })).into_response();
    }
    let understood = done.errors.iter().all(|error| !error.path.is_empty());
    let errors: Vec<Value> = done.errors.iter().map(shown).collect();
    let status = if understood { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    (status, Json(json!({ "errors": errors, "data": data }))).into_response()
}

fn shown(error: &ServerError) -> Value {
    let mut shown = json!({ "message": error.message });
    if !error.path.is_empty() {
        let segment = |segment: &PathSegment| match segment {
            PathSegment::Field(name) => json!(name),
            PathSegment::Index(at) => json!(at),
        };
        shown["path"] = error.path.iter().map(segment).collect();
    }
    if let Some(extensions) = &error.extensions {
        shown["extensions"] = json!(extensions);
    }
    shown
}
