//! Making tenants, and looking how far they are.

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
    error::Refusal,
    tenants::{Event, Stage, Tenant, Tenants},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TenantOrder {
    name: String,
    region: String,
    saml_groups: Vec<String>,
    cluster_type: String,
    datacenter: String,
    environment: String,
    project: String,
    saml_tenant: String,
    costcenter: i64,
    #[serde(rename = "globalAccountID", default)]
    global_account: String,
}

pub(super) async fn create(
    State(lms): State<Arc<Lms>>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let asked: Result<TenantOrder, _> = serde_json::from_slice(&body);
    let asked = asked.map_err(|error| Refusal::Invalid(error.to_string()))?;
    check(&asked)?;
    let requested_at = lms.clock.now();
    lms.tenants.change(|known| {
        let id = lms.new_id(known.made);
        let answer = (StatusCode::CREATED, Json(json!({ "id": id })));
        let tenant = Tenant {
            id,
            name: asked.name,
            region: asked.region,
            cluster_type: asked.cluster_type,
            environment: asked.environment,
            global_account: asked.global_account,
            requested_at,
            stage: Stage::Requested,
            authority_shown: false,
        };
        Ok((Some(Event::Created(tenant)), answer))
    })
}

pub(super) async fn show(
    State(lms): State<Arc<Lms>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    lms.tenants.read(|known| {
        let tenant = find(known, &id)?;
        let host = tenant.name.to_lowercase();
        let dns = format!("{host}.{}.lms.example.com", tenant.region);
        Ok(Json(json!({ "id": tenant.id, "dns": dns })))
    })
}

pub(super) async fn status(
    State(lms): State<Arc<Lms>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    lms.tenants.read(|known| {
        let stage = find(known, &id)?.stage;
        Ok(Json(json!({
            "kibanaDNSResolves": stage == Stage::Ready,
            "elasticsearchDNSResolves": stage != Stage::Requested,
            "kibanaState": if stage == Stage::Ready { "green" } else { "pending" },
        })))
    })
}

pub(super) fn find<'a>(known: &'a Tenants, id: &str) -> Result<&'a Tenant, Refusal> {
    known.by_id.get(id).ok_or(Refusal::NotFound("the tenant does not exist"))
}

fn check(asked: &TenantOrder) -> Result<(), Refusal> {
    let wrong = |text: &str| Err(Refusal::Invalid(text.to_owned()));
    let named = !asked.name.is_empty() && asked.name.len() <= 50;
    if !named || !asked.name.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return wrong("name must have 1 to 50 letters and digits");
    }
    if !matches!(asked.region.as_str(), "eu" | "us" | "aus") {
        return wrong("region is not known");
    }
    if !matches!(asked.cluster_type.as_str(), "ha" | "single-node") {
        return wrong("clusterType is not known");
    }
    if asked.datacenter != "all" || asked.project.is_empty() || asked.costcenter < 0 {
        return wrong("datacenter, project or costcenter is not known");
    }
    if asked.saml_groups.is_empty() || asked.saml_tenant.is_empty() {
        return wrong("nobody could log in");
    }
    Ok(())
}
