//! The catalog as platforms read it.

use serde_json::{Map, Value, json};

use super::{BindingOffer, Catalog, Offer, Plan, PlatformRegion};

impl Catalog {
    /// The answer to a platform that asks what can be ordered from a place.
    ///
    /// A service without plans is against the rules of the protocol, so that nothing offered means no service.
    pub fn services(&self, offer: &Offer, place: &PlatformRegion) -> Value {
        let plans: Vec<Value> =
            self.offered(offer).map(|plan| self.published(offer, plan, place)).collect();
        if plans.is_empty() {
            return json!({"services": []});
        }
        let said = |(_, value): &(&String, &Value)| !value.is_null() && *value != "";
        let metadata: Map<String, Value> = self
            .service
            .metadata
            .iter()
            .filter(said)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let mut service = json!({
            "id": self.service.id,
            "name": self.service.name,
            "description": self.service.description,
            // Plans say otherwise, one by one.
            "bindable": false,
            "instances_retrievable": true,
            "tags": self.service.tags,
            "plan_updateable": offer.plan_updateable,
            "plans": plans,
            "metadata": metadata,
            "allow_context_updates": true,
        });
        if offer.bindings.is_some() {
            service["bindings_retrievable"] = json!(true);
        }
        json!({"services": [service]})
    }

    fn published(&self, offer: &Offer, plan: &Plan, place: &PlatformRegion) -> Value {
        let mut published = json!({
            "id": plan.id(),
            "name": plan.name(),
            "description": plan.description(),
            "metadata": {"displayName": plan.display_name()},
            "schemas": {
                "service_instance": {
                    "create": {"parameters": self.create_schema(offer, plan, place)},
                    "update": {"parameters": self.update_schema(offer, plan, place)},
                },
                // Without a schema nothing is published, and `null` is not a schema.
                "service_binding": {"create": {}},
            },
        });
        let bindings = offer.bindings.as_ref();
        if let Some(bindings) =
            bindings.filter(|it| it.plans.iter().any(|name| name == plan.name()))
        {
            published["bindable"] = json!(true);
            published["binding_rotatable"] = json!(true);
            published["schemas"]["service_binding"]["create"]["parameters"] =
                schema(bindings, offer.closed);
        }
        if offer.plan_updateable {
            published["plan_updateable"] = json!(plan.is_upgradable());
        }
        if let Some(free) = plan.data().free {
            published["free"] = json!(free);
        }
        if let Some(polling) = offer.maximum_polling {
            published["maximum_polling_duration"] = json!(polling.as_secs());
        }
        published
    }
}

/// The schema of a bind.
fn schema(bindings: &BindingOffer, closed: bool) -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "additionalProperties": !closed,
        "properties": {
            "expiration_seconds": {
                "type": "integer",
                "title": "Lifetime of the credentials in seconds",
                "minimum": bindings.shortest.as_secs(),
                "maximum": bindings.longest.as_secs(),
                "default": bindings.usual.as_secs(),
            },
        },
    })
}
