//! The catalog.

use serde_json::Value;

use super::Broker;

impl Broker {
    /// The catalog as a platform reads it from a region.
    pub fn catalog(&self, region: Option<&str>) -> Value {
        let parts = self.parts();
        parts.catalog.services(&parts.offer, &parts.catalog.place(region))
    }
}
