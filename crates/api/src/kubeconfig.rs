//! `GET /kubeconfig/{instance_id}`: the kubeconfig with which an instance's people log in. `GET /bindings/{instance_id}`: its bindings,
//! without their credentials. `GET /kubeconfig/{global_account}/{runtime_id}`: a kubeconfig for an operator, as the known client asks
//! for it; `DELETE` ends one that was asked for with `?run=`.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use base::failure::chain;
use broker::{
    bindings::{BindingSummary, Bindings, OperatorAccess},
    instances::Error,
};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    audit::AuditContext,
    auth::{Principal, RequireScope, Verifier, scope},
    error::with_retry_after,
    origins::Origins,
    osb::Authenticated,
};

/// The services behind the API.
#[derive(Clone)]
pub struct KubeconfigParts {
    /// The use cases.
    pub bindings: Bindings,
    /// Checks tokens.
    pub verifier: Arc<Verifier>,
    /// The origins whose pages may read the kubeconfig with which people log in.
    pub origins: Origins,
}

/// The routes, each behind its door.
pub(crate) fn routes(parts: KubeconfigParts) -> Router {
    let reading = Router::new().route("/bindings/{instance_id}", get(list));
    let reading = RequireScope::new(parts.verifier.clone(), scope::RUNTIMES_READ).around(reading);
    let kubeconfigs = Router::new()
        .route("/kubeconfig/{instance_id}", get(kubeconfig))
        .route("/kubeconfig/", get(without_instance));
    let operators = Router::new()
        .route("/kubeconfig/{global_account}/{runtime_id}", get(of_operator).delete(end));
    let operators = RequireScope::of_operators(parts.verifier.clone(), scope::KUBECONFIG_READ)
        .around(operators);
    let kubeconfigs = RequireScope::new(parts.verifier, scope::KUBECONFIG_READ).around(kubeconfigs);
    parts.origins.around(kubeconfigs).merge(operators).merge(reading).with_state(parts.bindings)
}

async fn kubeconfig(
    State(bindings): State<Bindings>,
    Extension(principal): Extension<Principal>,
    Authenticated(caller): Authenticated,
    Path(instance): Path<String>,
) -> Result<Response, ErrorResponse> {
    let found = bindings.kubeconfig(&caller, &instance).await;
    audit(&principal, &instance, found.is_ok());
    Ok(file(found?))
}

/// What an operator's kubeconfig is for. Others that known clients may send are not looked at.
#[derive(Deserialize)]
struct Purpose {
    run: Option<String>,
}

impl Purpose {
    /// The run, which is no empty text.
    fn read(query: Result<Query<Self>, QueryRejection>) -> Result<Option<String>, ErrorResponse> {
        let bad = |text: String| ErrorResponse(StatusCode::BAD_REQUEST, text);
        let Query(Self { run }) = query.map_err(|error| bad(error.body_text()))?;
        if run.as_deref() == Some("") {
            return Err(bad("run must not be empty".into()));
        }
        Ok(run)
    }
}

/// For operators, with a token of their own. The audit names the instance, which only the store knows.
async fn of_operator(
    State(bindings): State<Bindings>,
    Extension(principal): Extension<Principal>,
    audited: Option<Extension<AuditContext>>,
    Path((account, runtime)): Path<(String, String)>,
    query: Result<Query<Purpose>, QueryRejection>,
) -> Result<Response, ErrorResponse> {
    let run = Purpose::read(query)?;
    let instance = bindings.instance_of(&account, &runtime).await?;
    let details = json!({ "account": account, "runtime": runtime });
    let subject = instance.clone();
    let answer = async move {
        let person = person(&principal);
        let wish = OperatorAccess {
            account: &account,
            runtime: &runtime,
            person: &person,
            run: run.as_deref(),
        };
        let found = bindings.operator_kubeconfig(&wish).await;
        audit(&principal, instance.as_deref().unwrap_or(&runtime), found.is_ok());
        match found {
            Ok(bound) => file(bound.kubeconfig.expose_secret().to_owned()),
            Err(error) => ErrorResponse::of_operator(error).into_response(),
        }
    };
    Ok(match audited {
        Some(Extension(audited)) => {
            Box::pin(audited.of("kubeconfig", subject, details).run(answer)).await
        }
        None => answer.await,
    })
}

/// Ends what an operator was given for a run.
async fn end(
    State(bindings): State<Bindings>,
    Extension(principal): Extension<Principal>,
    audited: Option<Extension<AuditContext>>,
    Path((account, runtime)): Path<(String, String)>,
    query: Result<Query<Purpose>, QueryRejection>,
) -> Result<Response, ErrorResponse> {
    let missing = || ErrorResponse(StatusCode::BAD_REQUEST, "run is missing".into());
    let run = Purpose::read(query)?.ok_or_else(missing)?;
    let instance = bindings.instance_of(&account, &runtime).await?;
    let details = json!({ "account": account, "runtime": runtime });
    let answer = async move {
        let person = person(&principal);
        let wish = OperatorAccess {
            account: &account,
            runtime: &runtime,
            person: &person,
            run: Some(run.as_str()),
        };
        match bindings.end_operator_access(&wish).await {
            Ok(()) => Json(json!({})).into_response(),
            Err(error) => ErrorResponse::of_operator(error).into_response(),
        }
    };
    Ok(match audited {
        Some(Extension(audited)) => {
            Box::pin(audited.of("unbind", instance, details).run(answer)).await
        }
        None => answer.await,
    })
}

/// Whose bindings an operator's are.
fn person(principal: &Principal) -> String {
    format!("{} {}", principal.issuer, principal.subject)
}

fn file(kubeconfig: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/x-yaml")),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_static("attachment; filename=kubeconfig.yaml"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, kubeconfig).into_response()
}

async fn without_instance(_: Authenticated) -> ErrorResponse {
    ErrorResponse(StatusCode::NOT_FOUND, "instanceID is required".into())
}

/// Writes the audit entry of a request for a kubeconfig: caller, instance, result.
fn audit(principal: &Principal, instance: &str, given: bool) {
    let (subject, issuer) = (principal.subject.as_str(), principal.issuer.as_str());
    tracing::info!(target: "audit", subject, issuer, instance.id = instance, given, "kubeconfig requested");
}

/// All bindings of an instance.
#[derive(Serialize)]
struct BindingList {
    bindings: Vec<BindingSummary>,
}

async fn list(
    State(bindings): State<Bindings>,
    Authenticated(caller): Authenticated,
    Path(instance): Path<String>,
) -> Result<Json<BindingList>, ErrorResponse> {
    Ok(Json(BindingList { bindings: bindings.list(&caller, &instance).await? }))
}

/// A request that is not answered as asked, in the words of these routes: one text, under a name that begins with a capital.
struct ErrorResponse(StatusCode, String);

impl ErrorResponse {
    /// The error for operators: the request is valid, but the instance has no runtime to open now.
    fn of_operator(error: Error) -> Self {
        match error {
            Error::Bad(text) => Self(StatusCode::CONFLICT, text),
            other => other.into(),
        }
    }
}

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        match &error {
            Error::NotFound(text) => Self(StatusCode::NOT_FOUND, text.clone()),
            Error::Bad(text) => Self(StatusCode::BAD_REQUEST, text.clone()),
            Error::Busy => {
                let text = "the instance is being changed: try again when that is over";
                Self(StatusCode::CONFLICT, text.into())
            }
            Error::Unavailable(_) | Error::Runtime { .. } => {
                tracing::warn!(error = chain(&error), "cannot fetch kubeconfig");
                Self(
                    StatusCode::SERVICE_UNAVAILABLE,
                    format!("cannot fetch SKR kubeconfig: {error}"),
                )
            }
            _ => {
                tracing::error!(error = chain(&error), "cannot fetch kubeconfig");
                Self(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    format!("cannot fetch SKR kubeconfig: {error}"),
                )
            }
        }
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let Self(status, text) = self;
        let response = (status, Json(json!({ "Error": text }))).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return with_retry_after(response);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_without_a_runtime_to_open_is_a_conflict_for_operators() {
        let suspended = || Error::Bad("instance i is suspended: it has no runtime".into());

        assert_eq!(ErrorResponse::from(suspended()).0, StatusCode::BAD_REQUEST);
        let told = ErrorResponse::of_operator(suspended());
        assert_eq!((told.0, told.1.contains("suspended")), (StatusCode::CONFLICT, true));
        assert_eq!(ErrorResponse::of_operator(Error::Busy).0, StatusCode::CONFLICT);
        let missing = ErrorResponse::of_operator(Error::NotFound("runtime r".into()));
        assert_eq!(missing.0, StatusCode::NOT_FOUND);
    }
}
