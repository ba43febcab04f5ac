//! `GET /kubeconfig/{instance_id}`: the kubeconfig with which an instance's people log in. `GET /bindings/{instance_id}`: its bindings,
//! without their credentials. `GET /kubeconfig/{global_account}/{runtime_id}`: a kubeconfig for an operator, as the known client asks
//! for it.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{Path, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use base::failure::chain;
use broker::{
    bindings::{BindingSummary, Bindings},
    instances::Error,
};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use serde_json::json;

use crate::{
    audit::Audited,
    auth::{Principal, RequireScope, Verifier, scope},
    osb::Authenticated,
};

/// What the API needs.
#[derive(Clone)]
pub struct Parts {
    /// The use cases.
    pub bindings: Bindings,
    /// Who checks tokens.
    pub verifier: Arc<Verifier>,
}

/// The routes, each behind its door.
pub(crate) fn routes(parts: Parts) -> Router {
    let reading = Router::new().route("/bindings/{instance_id}", get(list));
    let reading = RequireScope::new(parts.verifier.clone(), scope::RUNTIMES_READ).around(reading);
    let kubeconfigs = Router::new()
        .route("/kubeconfig/{instance_id}", get(kubeconfig))
        .route("/kubeconfig/", get(without_instance));
    let operators =
        Router::new().route("/kubeconfig/{global_account}/{runtime_id}", get(of_operator));
    let operators = RequireScope::of_operators(parts.verifier.clone(), scope::KUBECONFIG_READ)
        .around(operators);
    RequireScope::new(parts.verifier, scope::KUBECONFIG_READ)
        .around(kubeconfigs)
        .merge(operators)
        .merge(reading)
        .with_state(parts.bindings)
}

async fn kubeconfig(
    State(bindings): State<Bindings>,
    Extension(principal): Extension<Principal>,
    Authenticated(caller): Authenticated,
    Path(instance): Path<String>,
) -> Result<Response, Refused> {
    let found = bindings.kubeconfig(&caller, &instance).await;
    audit(&principal, &instance, found.is_ok());
    Ok(file(found?))
}

/// For operators, with a token of their own. The audit names the instance, which only the store knows.
async fn of_operator(
    State(bindings): State<Bindings>,
    Extension(principal): Extension<Principal>,
    audited: Option<Extension<Audited>>,
    Path((account, runtime)): Path<(String, String)>,
) -> Result<Response, Refused> {
    let instance = bindings.instance_of(&account, &runtime).await?;
    let details = json!({ "account": account, "runtime": runtime });
    let answer = async {
        let person = format!("{} {}", principal.issuer, principal.subject);
        let found = bindings.operator_kubeconfig(&account, &runtime, &person).await;
        audit(&principal, instance.as_deref().unwrap_or(&runtime), found.is_ok());
        match found {
            Ok(bound) => file(bound.kubeconfig.expose_secret().to_owned()),
            Err(error) => Refused::of_operator(error).into_response(),
        }
    };
    Ok(match audited {
        Some(Extension(audited)) => {
            Box::pin(audited.of("kubeconfig", instance.clone(), details).run(answer)).await
        }
        None => answer.await,
    })
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

async fn without_instance(_: Authenticated) -> Refused {
    Refused(StatusCode::NOT_FOUND, "instanceID is required".into())
}

/// Who has asked for whose kubeconfig, and whether it was given. The one place that knows.
fn audit(principal: &Principal, instance: &str, given: bool) {
    let (subject, issuer) = (principal.subject.as_str(), principal.issuer.as_str());
    tracing::info!(target: "audit", subject, issuer, instance.id = instance, given, "kubeconfig requested");
}

/// All bindings of an instance.
#[derive(Serialize)]
struct Listed {
    bindings: Vec<BindingSummary>,
}

async fn list(
    State(bindings): State<Bindings>,
    Authenticated(caller): Authenticated,
    Path(instance): Path<String>,
) -> Result<Json<Listed>, Refused> {
    Ok(Json(Listed { bindings: bindings.list(&caller, &instance).await? }))
}

/// A request that is not answered as asked, in the words of these routes: one text, under a name that begins with a capital.
struct Refused(StatusCode, String);

impl Refused {
    /// What an operator asked for was right: it is the instance that has no runtime to open now.
    fn of_operator(error: Error) -> Self {
        match error {
            Error::Bad(text) => Self(StatusCode::CONFLICT, text),
            other => other.into(),
        }
    }
}

impl From<Error> for Refused {
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

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self(status, text) = self;
        let mut response = (status, Json(json!({ "Error": text }))).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
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

        assert_eq!(Refused::from(suspended()).0, StatusCode::BAD_REQUEST);
        let told = Refused::of_operator(suspended());
        assert_eq!((told.0, told.1.contains("suspended")), (StatusCode::CONFLICT, true));
        assert_eq!(Refused::of_operator(Error::Busy).0, StatusCode::CONFLICT);
        let missing = Refused::of_operator(Error::NotFound("runtime r".into()));
        assert_eq!(missing.0, StatusCode::NOT_FOUND);
    }
}
