//! The platform's calls.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    Edp,
    error::Refusal,
    tenants::{Event, Tenant, TenantName, Tenants},
};

type Shared = State<Arc<Edp>>;
type TenantPath = Path<(String, String, String)>;

#[derive(Deserialize)]
struct NewTenant {
    name: String,
    environment: String,
    secret: String,
}

#[derive(Deserialize)]
struct NewMetadata {
    key: String,
    value: String,
}

pub(super) async fn create_tenant(
    State(edp): Shared,
    Path(namespace): Path<String>,
    body: Bytes,
) -> Result<StatusCode, Refusal> {
    let NewTenant { name, environment, secret } = parsed(&body)?;
    if name.is_empty() || environment.is_empty() {
        return Err(Refusal::Invalid("name and environment must not be empty".into()));
    }
    if secret.is_empty() || BASE64_STANDARD.decode(&secret).is_err() {
        return Err(Refusal::Invalid("secret must be base64".into()));
    }
    let place = edp.place(namespace, name, environment)?;
    edp.tenants.change(|known| {
        if known.switches.conflict || known.find(&place).is_some() {
            return Err(Refusal::Exists("the data tenant"));
        }
        Ok((Some(Event::TenantCreated(place)), created(known)))
    })
}

pub(super) async fn delete_tenant(
    State(edp): Shared,
    Path((namespace, name, environment)): TenantPath,
) -> Result<StatusCode, Refusal> {
    let place = edp.place(namespace, name, environment)?;
    edp.tenants.change(|known| {
        let tenant = found(known, &place)?;
        if known.switches.guard && !tenant.metadata.is_empty() {
            return Err(Refusal::InUse);
        }
        Ok((Some(Event::TenantDeleted(place)), StatusCode::NO_CONTENT))
    })
}

pub(super) async fn create_metadata(
    State(edp): Shared,
    Path((namespace, name, environment)): TenantPath,
    body: Bytes,
) -> Result<StatusCode, Refusal> {
    let NewMetadata { key, value } = parsed(&body)?;
    if key.is_empty() {
        return Err(Refusal::Invalid("key must not be empty".into()));
    }
    let place = edp.place(namespace, name, environment)?;
    edp.tenants.change(|known| {
        let tenant = found(known, &place)?;
        if known.switches.conflict || tenant.metadata.contains_key(&key) {
            return Err(Refusal::Exists("the metadata"));
        }
        Ok((Some(Event::MetadataCreated { place, key, value }), created(known)))
    })
}

pub(super) async fn list(
    State(edp): Shared,
    Path((namespace, name, environment)): TenantPath,
) -> Result<Json<Value>, Refusal> {
    let place = edp.place(namespace, name, environment)?;
    edp.tenants.read(|known| {
        let of = json!({
            "namespace": { "name": place.namespace },
            "name": place.name,
            "environment": place.environment,
        });
        let metadata = found(known, &place)?.metadata.iter();
        let listed: Vec<Value> = metadata
            .map(|(key, value)| json!({ "dataTenant": of, "key": key, "value": value }))
            .collect();
        Ok(Json(listed.into()))
    })
}

pub(super) async fn delete_metadata(
    State(edp): Shared,
    Path((namespace, name, environment, key)): Path<(String, String, String, String)>,
) -> Result<StatusCode, Refusal> {
    let place = edp.place(namespace, name, environment)?;
    edp.tenants.change(|known| {
        if !found(known, &place)?.metadata.contains_key(&key) {
            return Err(Refusal::NotFound("the metadata"));
        }
        Ok((Some(Event::MetadataDeleted { place, key }), StatusCode::NO_CONTENT))
    })
}

impl Edp {
    fn place(&self, namespace: String, name: String, env: String) -> Result<TenantName, Refusal> {
        if self.knows(&namespace) {
            Ok(TenantName { namespace, name, environment: env })
        } else {
            Err(Refusal::NotFound("the namespace"))
        }
    }
}

fn found<'a>(known: &'a Tenants, place: &TenantName) -> Result<&'a Tenant, Refusal> {
    known.find(place).ok_or(Refusal::NotFound("the data tenant"))
}

fn created(known: &Tenants) -> StatusCode {
    if known.switches.plain_ok { StatusCode::OK } else { StatusCode::CREATED }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::Invalid(error.to_string()))
}
