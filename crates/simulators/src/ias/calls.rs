//! Making service providers, and deleting them.

use std::sync::Arc;

use axum::{
    body::Bytes,
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
};
use serde::Deserialize;
use url::form_urlencoded;

use super::{
    Ias,
    error::Refusal,
    providers::{Event, Provider},
};

/// Takes a form; values that are not percent-encoded are taken as they are.
pub(super) async fn create(
    State(ias): State<Arc<Ias>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Refusal> {
    let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
    if !media.is_some_and(|media| media.starts_with("application/x-www-form-urlencoded")) {
        return Err(Refusal::Invalid("the body must be a form".into()));
    }
    let field = |wanted: &str| {
        let found = form_urlencoded::parse(&body).find(|(name, _)| name == wanted);
        let value = found.map(|(_, value)| value.into_owned()).filter(|value| !value.is_empty());
        value.ok_or_else(|| Refusal::Invalid(format!("{wanted} is missing")))
    };
    let (display_name, company) = (field("sp_name")?, field("company_id")?);
    if company != "global" {
        return Err(Refusal::Invalid("the company is not known".into()));
    }
    ias.providers.change(|known| {
        let taken = known.kept.iter().any(|provider| provider.display_name == display_name);
        if taken && !known.switches.twins {
            return Err(Refusal::Exists);
        }
        let provider = Provider {
            id: ias.new_id(1, known.created),
            display_name,
            user_for_rest: format!("T{:06}", known.created + 1),
            hidden_for: known.switches.hide_new,
            ..Provider::default()
        };
        Ok((Some(Event::Created(provider)), StatusCode::CREATED))
    })
}

#[derive(Deserialize)]
pub(super) struct ProviderQuery {
    sp_id: String,
}

pub(super) async fn delete(
    State(ias): State<Arc<Ias>>,
    which: Result<Query<ProviderQuery>, QueryRejection>,
) -> Result<StatusCode, Refusal> {
    let which = which.map_err(|_| Refusal::Invalid("sp_id is missing".into()))?;
    let id = which.0.sp_id;
    ias.providers.change(|known| {
        if known.find(&id).is_none() {
            return Err(Refusal::NotFound("the service provider"));
        }
        Ok((Some(Event::Deleted { id }), StatusCode::OK))
    })
}
