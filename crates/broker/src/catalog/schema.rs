//! The published schemas of a plan's parameters.
//!
//! They are what orders are checked with. Parameters that are understood but not published (`volumeSizeGb`, a trial's
//! `region` …) pass, unless the offer is closed.

mod properties;

use domain::plan::Kind;
use serde_json::{Map, Value, json};

use super::{Catalog, Offer, Place, Plan};
use properties::Purpose;

/// In which order a form shows its fields.
const CONTROLS: [&str; 11] = [
    "name",
    "kubeconfig",
    "shootName",
    "shootDomain",
    "region",
    "machineType",
    "autoScalerMin",
    "autoScalerMax",
    "zonesCount",
    "oidc",
    "administrators",
];

impl Catalog {
    /// What an order may say.
    pub fn create_schema(&self, offer: &Offer, plan: &Plan, place: &Place) -> Value {
        let required: &[&str] = match plan.kind() {
            Kind::OwnCluster => &["name", "kubeconfig", "shootName", "shootDomain"],
            _ => &["name"],
        };
        envelope(self.properties(offer, plan, place, Purpose::Create), required, offer.closed)
    }

    /// What a change may say.
    pub fn update_schema(&self, offer: &Offer, plan: &Plan, place: &Place) -> Value {
        envelope(self.properties(offer, plan, place, Purpose::Update), &[], offer.closed)
    }
}

/// An empty `required` is left out, and a schema without fields is published all the same: draft 4 forbids the one, and
/// platforms refuse a schema that does not name its draft.
fn envelope(mut properties: Map<String, Value>, required: &[&str], closed: bool) -> Value {
    let controls: Vec<&str> =
        CONTROLS.into_iter().filter(|name| properties.contains_key(*name)).collect();
    let mut ordered = Map::new();
    for name in &controls {
        if let Some(property) = properties.remove(*name) {
            ordered.insert((*name).to_owned(), property);
        }
    }
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": ordered,
        "_show_form_view": true,
        "_controlsOrder": controls,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if closed {
        schema["additionalProperties"] = json!(false);
    }
    schema
}
