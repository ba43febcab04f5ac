//! The catalog as platforms read it.

use serde_json::{Map, Value, json};

use super::{Catalog, Offer, Place, Plan};

impl Catalog {
    /// The answer to a platform that asks what can be ordered from a place.
    ///
    /// A service without plans is against the rules of the protocol, so that nothing offered means no service.
    pub fn services(&self, offer: &Offer, place: &Place) -> Value {
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
        json!({"services": [{
            "id": self.service.id,
            "name": self.service.name,
            "description": self.service.description,
            "bindable": offer.bindable,
            "instances_retrievable": true,
            "tags": self.service.tags,
            "plan_updateable": offer.plan_updateable,
            "plans": plans,
            "metadata": metadata,
            "allow_context_updates": true,
        }]})
    }

    fn published(&self, offer: &Offer, plan: &Plan, place: &Place) -> Value {
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
                // Bindings take no parameters, and `null` is not a schema.
                "service_binding": {"create": {}},
            },
        });
        if let Some(free) = plan.data().free {
            published["free"] = json!(free);
        }
        if let Some(polling) = offer.maximum_polling {
            published["maximum_polling_duration"] = json!(polling.as_secs());
        }
        published
    }
}
