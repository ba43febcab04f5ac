//! Which zones have which machines.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::HeaderMap,
};
use serde_json::{Value, json};

use super::{Azure, access::QueryParams, error::Refusal, groups::paged, records::Sku};

type Fields = Query<Vec<(String, String)>>;
/// Machine types of every region, in all its zones, unless an order says otherwise.
const USUAL: [&str; 7] = [
    "Standard_D2s_v5",
    "Standard_D4s_v5",
    "Standard_D8s_v5",
    "Standard_D16s_v5",
    "Standard_D32s_v5",
    "Standard_D48s_v5",
    "Standard_D64s_v5",
];

/// Lists what a region has.
pub(super) async fn list(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path(subscription): Path<String>,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    let asked = QueryParams(fields);
    azure.enter(&headers, &subscription, &asked, &["2021-07-01", "2019-04-01"])?;
    let location = asked
        .one("$filter")
        .and_then(|filter| filter.trim().strip_prefix("location eq '")?.strip_suffix('\''))
        .ok_or_else(|| Refusal::new(400, "InvalidParameter", "The $filter is not valid."))?
        .to_owned();
    let set = azure.known.read(|known| known.skus.get(&location).cloned()).unwrap_or_default();
    let usual = USUAL.iter().filter(|usual| !set.iter().any(|sku| sku.machine == **usual));
    let usual = usual.map(|machine| Sku {
        machine: (*machine).to_owned(),
        zones: ["1", "2", "3"].map(str::to_owned).to_vec(),
        restricted: Vec::new(),
        bare: false,
    });
    let mut all = vec![json!({
        "resourceType": "disks", "name": "Premium_LRS", "locations": [location],
        "locationInfo": [{ "location": location, "zones": ["1", "2", "3"] }], "restrictions": [],
    })];
    all.extend(usual.chain(set.iter().cloned()).map(|sku| shown(&sku, &location)));
    let path =
        format!("{}/subscriptions/{subscription}/providers/Microsoft.Compute/skus", azure.url());
    Ok(Json(paged(&azure, all, &asked, &path)))
}

fn shown(sku: &Sku, location: &str) -> Value {
    let mut shown = json!({
        "resourceType": "virtualMachines", "name": sku.machine, "locations": [location],
        "restrictions": [],
    });
    if !sku.bare {
        shown["locationInfo"] = json!([{ "location": location, "zones": sku.zones }]);
    }
    if !sku.restricted.is_empty() {
        shown["restrictions"] = json!([{
            "type": "Zone", "values": [location], "reasonCode": "NotAvailableForSubscription",
            "restrictionInfo": { "locations": [location], "zones": sku.restricted },
        }]);
    }
    shown
}
