//! Requesting certificates, and waiting for them.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Lms,
    authority::Authority,
    calls::find,
    csr::Request,
    error::Refusal,
    tenants::{Certificate, Event, Tenants},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SigningRequest {
    cert_id: i64,
    csr: String,
}

pub(super) async fn request(
    State(lms): State<Arc<Lms>>,
    Path(tenant): Path<String>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let asked: Result<SigningRequest, _> = serde_json::from_slice(&body);
    let asked = asked.map_err(|error| Refusal::Invalid(error.to_string()))?;
    let request = Request::read(&asked.csr)
        .filter(|_| asked.cert_id == 0)
        .ok_or_else(|| Refusal::Invalid("csr is not a signed request of an RSA key".into()))?;
    let requested_at = lms.clock.now();
    let pem = lms.authority()?.sign(&request, requested_at)?;
    lms.tenants.change(|known| {
        find(known, &tenant)?;
        let id = lms.new_id(known.made);
        let base = if known.switches.dead_callback {
            // The port for discarding what is sent; nobody answers there.
            "http://127.0.0.1:9/lms"
        } else {
            lms.settings.url.as_str()
        };
        let answer = json!({ "callbackUrl": format!("{base}/certificates/{id}") });
        let certificate = Certificate { id, tenant, pem, requested_at, shown: false };
        Ok((Some(Event::Requested(certificate)), (StatusCode::ACCEPTED, Json(answer))))
    })
}

pub(super) async fn signed(
    State(lms): State<Arc<Lms>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    lms.tenants.read(|known| {
        let found = known.certificates.get(&id).filter(|certificate| certificate.shown);
        answer(known, found.map(|certificate| certificate.pem.clone()))
    })
}

pub(super) async fn authority(
    State(lms): State<Arc<Lms>>,
    Path(tenant): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let authority = lms.authority()?;
    lms.tenants.read(|known| {
        let shown = find(known, &tenant)?.authority_shown;
        answer(known, shown.then_some(authority.certificate))
    })
}

fn answer(known: &Tenants, certificate: Option<String>) -> Result<Json<Value>, Refusal> {
    let found = certificate.filter(|_| !known.switches.withheld);
    let pem = found.ok_or(Refusal::NotFound("the certificate is not ready"))?;
    let pem = if known.switches.spoilt { "soon".to_owned() } else { pem };
    Ok(Json(json!({ "cert": pem })))
}

impl Lms {
    /// The authority, made when it is first needed.
    fn authority(&self) -> Result<Authority, Refusal> {
        if let Some(authority) = self.tenants.read(|known| known.authority.clone()) {
            return Ok(authority);
        }
        let made = Authority::new(self.clock.now())?;
        self.tenants.settle(|known| {
            // It may have been set concurrently.
            let first = known.authority.is_none();
            first.then(|| Event::AuthorityMade(made.clone())).into_iter().collect()
        })?;
        Ok(self.tenants.read(|known| known.authority.clone()).unwrap_or(made))
    }
}
