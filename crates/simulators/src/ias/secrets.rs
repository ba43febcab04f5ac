//! The secrets of service providers: shown once, never kept.

use std::sync::Arc;

use axum::{body::Bytes, extract::State, http::StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    Ias,
    error::Refusal,
    providers::{Event, Secret},
};

#[derive(Deserialize)]
struct NewSecret {
    #[serde(default)]
    description: String,
    #[serde(default)]
    scopes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SecretRemoval {
    client_id: String,
    client_secrets_ids: Vec<String>,
}

pub(super) fn create(ias: &Ias, id: &str, wanted: &Value) -> Result<Value, Refusal> {
    let wanted: Result<NewSecret, _> = serde_json::from_value(wanted.clone());
    let wanted = wanted.map_err(|error| Refusal::Invalid(error.to_string()))?;
    ias.providers.change(|known| {
        let provider = known.find(id).ok_or(Refusal::NotFound("the service provider"))?;
        let secret = Secret {
            id: ias.new_id(2, known.secrets_created),
            description: wanted.description,
            scopes: wanted.scopes,
        };
        let value = Uuid::new_v4().simple().to_string();
        let answer = json!({ "clientId": provider.user_for_rest, "clientSecret": value });
        Ok((Some(Event::SecretCreated { id: id.into(), secret }), answer))
    })
}

pub(super) async fn delete(
    State(ias): State<Arc<Ias>>,
    body: Bytes,
) -> Result<StatusCode, Refusal> {
    let unwanted: Result<SecretRemoval, _> = serde_json::from_slice(&body);
    let unwanted = unwanted.map_err(|error| Refusal::Invalid(error.to_string()))?;
    ias.providers.change(|known| {
        let of =
            |provider: &&super::providers::Provider| provider.user_for_rest == unwanted.client_id;
        let provider = known.kept.iter().find(of).ok_or(Refusal::NotFound("the client"))?;
        let secrets = unwanted.client_secrets_ids;
        if !provider.secrets.iter().any(|kept| secrets.contains(&kept.id)) {
            return Err(Refusal::NotFound("the secret"));
        }
        let id = provider.id.clone();
        Ok((Some(Event::SecretsDeleted { id, secrets }), StatusCode::NO_CONTENT))
    })
}
