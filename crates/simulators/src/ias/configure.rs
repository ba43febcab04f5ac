//! Changing a service provider: what a body holds is changed, the rest stays.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value, json};

use super::{Ias, error::Refusal, providers::Event, secrets};

/// What a provider's own address takes, and the name the company shows it under.
const FIELDS: [(&str, &str); 5] = [
    ("ssoType", "ssoType"),
    ("sp_name", "sp_name"),
    ("acs_endpoints", "acs_endpoints"),
    ("assertion_attributes", "assertion_attributes"),
    ("name_id_attribute", "name_id_attribute"),
];

pub(super) async fn by_path(
    State(ias): State<Arc<Ias>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<StatusCode, Refusal> {
    let body = object(&body)?;
    let mut values: Map<String, Value> = FIELDS
        .iter()
        .filter_map(|(name, shown)| Some(((*shown).to_owned(), body.get(*name)?.clone())))
        .collect();
    if let Some(oidc) = body.get("openId_connect_configuration") {
        if !oidc["redirect_uris"].is_array() {
            return Err(Refusal::Invalid("redirect_uris must be a list".into()));
        }
        values.insert("redirect_uris".into(), oidc["redirect_uris"].clone());
    }
    check(&values)?;
    configured(&ias, id, "configure", values)
}

pub(super) async fn access(
    State(ias): State<Arc<Ias>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<StatusCode, Refusal> {
    let mut failing = false;
    ias.providers.settle(|known| {
        let mut switches = known.switches.clone();
        failing = switches.failing_access > 0;
        switches.failing_access = switches.failing_access.saturating_sub(1);
        if failing { vec![Event::Switched(switches)] } else { Vec::new() }
    })?;
    if failing {
        return Err(Refusal::Broken);
    }
    let config = object(&body)?["service_provider"]["rba_config"].clone();
    if !config["rba_rules"].is_array() || !config["default_action"].is_string() {
        return Err(Refusal::Invalid("rba_config must have rules and a default".into()));
    }
    configured(&ias, id, "setAccess", Map::from_iter([("rba_config".into(), config)]))
}

/// Two calls share one address: they differ in what the body holds.
pub(super) async fn by_body(State(ias): State<Arc<Ias>>, body: Bytes) -> Result<Response, Refusal> {
    let body = object(&body)?;
    let id = body["id"].as_str().unwrap_or_default().to_owned();
    if body["organization"] != "global" {
        return Err(Refusal::Invalid("the organization is not known".into()));
    }
    if let Some(wanted) = body.get("rest_api_client_secret") {
        return secrets::create(&ias, &id, wanted).map(|made| Json(made).into_response());
    }
    let Some(from) = body["default_auth_idp"].as_str() else {
        return Err(Refusal::Invalid("there is nothing to change".into()));
    };
    let from = from.rsplit_once("/service/idp/").map(|(_, id)| id).unwrap_or_default();
    if !ias.settings.identity_providers.iter().any(|(known, _)| known == from) {
        return Err(Refusal::Invalid("the identity provider is not known".into()));
    }
    let values = Map::from_iter([("authenticatingIdp".into(), json!({ "id": from }))]);
    configured(&ias, id, "setIdentityProvider", values).map(IntoResponse::into_response)
}

fn check(values: &Map<String, Value>) -> Result<(), Refusal> {
    let wrong = |text: &str| Err(Refusal::Invalid(text.to_owned()));
    if values.is_empty() {
        return wrong("there is nothing to change");
    }
    let lists = ["acs_endpoints", "assertion_attributes"];
    if lists.iter().filter_map(|name| values.get(*name)).any(|value| !value.is_array()) {
        return wrong("a list is expected");
    }
    let pair = |value: &Value| {
        value["assertionAttribute"].is_string() && value["userAttribute"].is_string()
    };
    let attributes = values.get("assertion_attributes").and_then(Value::as_array);
    if attributes.is_some_and(|all| !all.iter().all(pair)) {
        return wrong("an attribute has two names");
    }
    Ok(())
}

fn configured(
    ias: &Ias,
    id: String,
    what: &str,
    values: Map<String, Value>,
) -> Result<StatusCode, Refusal> {
    ias.providers.change(|known| {
        if known.find(&id).is_none() {
            return Err(Refusal::NotFound("the service provider"));
        }
        Ok((Some(Event::Configured { id, what: what.into(), values }), StatusCode::OK))
    })
}

fn object(body: &[u8]) -> Result<Value, Refusal> {
    let read: Result<Value, _> = serde_json::from_slice(body);
    let read = read.map_err(|error| Refusal::Invalid(error.to_string()))?;
    if read.is_object() { Ok(read) } else { Err(Refusal::Invalid("an object is expected".into())) }
}
