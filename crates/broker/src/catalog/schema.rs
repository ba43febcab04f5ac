//! The published schemas of a plan's parameters.
//!
//! They are what orders are checked with. A closed schema names every parameter that is understood and forbids all others; the form
//! shows those of `CONTROLS`. An open one names those of the form, and lets everything else pass.

mod properties;

use domain::plan::Kind;
use serde_json::{Map, Value, json};

use super::{Catalog, Offer, Plan, PlatformRegion};
use properties::{Purpose, close, further};

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
    /// The schema of an order.
    pub fn create_schema(&self, offer: &Offer, plan: &Plan, place: &PlatformRegion) -> Value {
        let required: &[&str] = match plan.kind() {
            Kind::OwnCluster => &["name", "kubeconfig", "shootName", "shootDomain"],
            _ => &["name"],
        };
        let properties = self.properties(offer, plan, place, Purpose::Create);
        envelope(properties, further(offer, plan, Purpose::Create).as_ref(), required)
    }

    /// The schema of an update.
    pub fn update_schema(&self, offer: &Offer, plan: &Plan, place: &PlatformRegion) -> Value {
        let properties = self.properties(offer, plan, place, Purpose::Update);
        envelope(properties, further(offer, plan, Purpose::Update).as_ref(), &[])
    }
}

/// An empty `required` is left out, and a schema without fields is published all the same: draft 4 forbids the one, and
/// platforms refuse a schema that does not name its draft.
fn envelope(
    mut properties: Map<String, Value>,
    further: Option<&Map<String, Value>>,
    required: &[&str],
) -> Value {
    let controls: Vec<&str> =
        CONTROLS.into_iter().filter(|name| properties.contains_key(*name)).collect();
    let mut ordered = Map::new();
    for name in &controls {
        if let Some(property) = properties.remove(*name) {
            ordered.insert((*name).to_owned(), property);
        }
    }
    if let Some(further) = further {
        for (name, property) in further {
            ordered.entry(name).or_insert_with(|| property.clone());
        }
        ordered.iter_mut().for_each(|(name, property)| close(name, property));
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
    if further.is_some() {
        schema["additionalProperties"] = json!(false);
    }
    schema
}
