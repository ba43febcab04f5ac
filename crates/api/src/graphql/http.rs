//! One GraphQL request over HTTP: which status, which body.
//!
//! What a reader would get wrong: a missing permission is answered by HTTP, before GraphQL is spoken. Everything
//! after that is an answer with `errors`, and 200 unless the query itself was not valid.

use std::{panic::AssertUnwindSafe, sync::Arc};

use async_graphql::{
    Request as Query, Response as Answer, ServerError, Value,
    parser::types::{ExecutableDocument, OperationDefinition, OperationType},
};
use axum::{
    Extension, Json,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use serde::Serialize;

use super::{
    QueryLimits, Schema, answer, audited,
    caller::caller,
    kubeconfig::MayOpen,
    strict::{
        check::{self, Fault},
        nesting, size,
    },
    transport::{GraphQlRequest, receive},
};
use crate::{
    audit::AuditContext,
    auth::{Principal, scope},
    error::Error,
};

/// How many errors are listed at most: a query of a megabyte can have a hundred thousand.
const MOST_ERRORS: usize = 20;

/// What the route works with.
#[derive(Clone)]
pub(super) struct Service {
    schema: Arc<Schema>,
    limits: QueryLimits,
}

/// A body, in the order in which clients expect it.
#[derive(Serialize)]
struct Body {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ServerError>,
    data: Value,
}

impl Service {
    pub(super) fn new(schema: Schema, limits: QueryLimits) -> Self {
        Self { schema: Arc::new(schema), limits }
    }

    async fn run(&self, query: Query, selected: bool) -> Response {
        let name = query.operation_name.clone();
        match AssertUnwindSafe(self.schema.execute(query)).catch_unwind().await {
            // A document that is not valid is answered first.
            Ok(answer) if !selected && !answer.errors.iter().any(check::is_fault) => {
                refusal(StatusCode::OK, &no_operation(name.as_deref()))
            }
            Ok(answer) => presented(answer),
            Err(panic) => {
                tracing::error!(panic = answer::text(panic.as_ref()), "a query panicked");
                refusal(StatusCode::UNPROCESSABLE_ENTITY, answer::BROKEN)
            }
        }
    }
}

pub(super) async fn serve(
    State(service): State<Service>,
    Extension(principal): Extension<Principal>,
    request: Request,
) -> Result<Response, Response> {
    let caller = caller(&principal, request.headers()).map_err(IntoResponse::into_response)?;
    let audited = request.extensions().get::<AuditContext>().cloned();
    let GraphQlRequest { mut query, only_reads } = receive(request).await?;
    if query.query.trim().is_empty() {
        return Ok(refusal(StatusCode::OK, &no_operation(query.operation_name.as_deref())));
    }
    if let Err(error) = nesting::check(&query.query) {
        return Ok(invalid(Fault::Invalid.in_error(error)));
    }
    let name = query.operation_name.clone();
    let variables = query.variables.clone();
    let document = match query.parsed_query() {
        Ok(document) => document,
        Err(error) => return Ok(invalid(Fault::Syntax.in_error(error))),
    };
    if let Err(error) = size::check(document, service.limits.complexity) {
        return Ok(invalid(Fault::Invalid.in_error(error)));
    }
    let operation = selected(document, name.as_deref());
    let kind = operation.map(|operation| operation.ty);
    let request = operation
        .and_then(|operation| audited::request(operation, &document.fragments, &variables));
    if only_reads && kind.is_some_and(|kind| kind != OperationType::Query) {
        let text = "GET requests only allow query operations";
        return Ok(refusal(StatusCode::NOT_ACCEPTABLE, text));
    }
    allowed(&principal, kind).map_err(IntoResponse::into_response)?;
    let may_open = MayOpen(principal.scopes.contains(scope::PROVISIONER_KUBECONFIG));
    let audited = audited.zip(request).map(|(audited, request)| {
        let details = request.details(&caller.tenant, may_open.0);
        audited.of(&request.action, request.runtimes.into_iter().next(), details)
    });
    let query = query.data(caller).data(may_open);
    let work = async move { service.run(query, kind.is_some()).await };
    Ok(match audited {
        Some(audited) => audited.run(work).await,
        None => work.await,
    })
}

/// The text that clients of the reference know.
fn no_operation(name: Option<&str>) -> String {
    format!("operation {} not found", name.unwrap_or_default())
}

/// The operation of a document that is to run.
pub(super) fn selected<'a>(
    document: &'a ExecutableDocument,
    name: Option<&str>,
) -> Option<&'a OperationDefinition> {
    let mut operations = document.operations.iter();
    match name {
        Some(name) => operations.find(|(own, _)| own.is_some_and(|own| own == name)),
        None => operations.next().filter(|_| operations.next().is_none()),
    }
    .map(|(_, operation)| &operation.node)
}

/// What runs needs its scope. When nothing will run, the one that opened the door is enough.
fn allowed(principal: &Principal, kind: Option<OperationType>) -> Result<(), Error> {
    let needed = match kind {
        None => return Ok(()),
        Some(OperationType::Mutation) => scope::PROVISIONER_WRITE,
        Some(OperationType::Query | OperationType::Subscription) => scope::PROVISIONER_READ,
    };
    if principal.scopes.contains(needed) {
        return Ok(());
    }
    tracing::info!(subject = principal.subject, scope = needed, "a token lacks a scope");
    Err(Error::Forbidden)
}

fn presented(mut answer: Answer) -> Response {
    if answer.errors.iter().any(answer::voids) {
        answer.data = Value::Null;
    }
    let mut status = StatusCode::OK;
    for error in &mut answer.errors {
        if check::is_fault(error) {
            status = StatusCode::UNPROCESSABLE_ENTITY;
        } else {
            error.locations.clear();
        }
    }
    answer.errors.truncate(MOST_ERRORS);
    respond(status, answer.errors, answer.data)
}

fn invalid(error: ServerError) -> Response {
    respond(StatusCode::UNPROCESSABLE_ENTITY, vec![error], Value::Null)
}

/// An answer that is only an error.
pub(super) fn refusal(status: StatusCode, text: &str) -> Response {
    respond(status, vec![ServerError::new(text, None)], Value::Null)
}

fn respond(status: StatusCode, errors: Vec<ServerError>, data: Value) -> Response {
    (status, Json(Body { errors, data })).into_response()
}
