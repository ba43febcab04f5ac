//! The accounts service and the entitlements service.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::HeaderMap,
};
use serde_json::{Value, json};

use super::{Cis, access::Refusal, records::entitled};

/// Returns a subaccount.
pub(super) async fn subaccount(
    State(cis): State<Arc<Cis>>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    cis.admit(&headers)?;
    cis.known.read(|known| {
        let found = known.subaccounts.get(&id).map(|subaccount| Json(subaccount.record()));
        found.ok_or_else(|| Refusal::NotFound(format!("Subaccount {id} not found")))
    })
}

/// Returns the entitlement of a subaccount.
pub(super) async fn entitlement(
    State(cis): State<Arc<Cis>>,
    headers: HeaderMap,
    Path((service, plan, subaccount)): Path<(String, String, String)>,
) -> Result<Json<Value>, Refusal> {
    cis.admit(&headers)?;
    if service != "kymaruntime" {
        return Err(Refusal::NotFound(format!("Service {service} not found")));
    }
    cis.known.read(|known| {
        let unknown = known.strict && !known.subaccounts.contains_key(&subaccount);
        if unknown || known.deleted.contains(&subaccount) {
            return Err(Refusal::NotFound(format!("Subaccount {subaccount} not found")));
        }
        let amount = known.entitlements.get(&entitled(&subaccount, &plan)).cloned();
        let mut answer = json!({ "plan": plan, "service": service, "subaccountGUID": subaccount });
        match amount.unwrap_or_else(|| json!(cis.settings.entitlement)) {
            Value::Null => {}
            amount => answer["amount"] = amount,
        }
        Ok(Json(answer))
    })
}
