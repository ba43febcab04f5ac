//! The data tenants that the platform knows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::store::State;

/// Where a data tenant is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TenantName {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) environment: String,
}

impl TenantName {
    /// As an operator names it.
    pub(super) fn id(&self) -> String {
        format!("{}:{}:{}", self.namespace, self.name, self.environment)
    }
}

/// One data tenant.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tenant {
    pub(super) place: TenantName,
    pub(super) metadata: BTreeMap<String, String>,
}

/// What an operator has ordered.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct EdpFaults {
    /// Everything that is to be made is there already.
    pub(super) conflict: bool,
    /// What was made is answered with 200.
    pub(super) plain_ok: bool,
    /// A tenant that has metadata is not deleted.
    pub(super) guard: bool,
}

/// Everything the platform keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tenants {
    /// By namespace, environment and name.
    kept: BTreeMap<String, BTreeMap<String, BTreeMap<String, Tenant>>>,
    #[serde(default)]
    pub(super) switches: EdpFaults,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    TenantCreated(TenantName),
    TenantDeleted(TenantName),
    MetadataCreated { place: TenantName, key: String, value: String },
    MetadataDeleted { place: TenantName, key: String },
    Switched(EdpFaults),
}

impl Tenants {
    pub(super) fn find(&self, place: &TenantName) -> Option<&Tenant> {
        self.kept.get(&place.namespace)?.get(&place.environment)?.get(&place.name)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Tenant> {
        self.kept.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values)
    }

    fn at(&mut self, place: &TenantName) -> &mut BTreeMap<String, Tenant> {
        let namespace = self.kept.entry(place.namespace.clone()).or_default();
        namespace.entry(place.environment.clone()).or_default()
    }
}

impl State for Tenants {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::TenantCreated(place) => {
                let tenant = Tenant { place: place.clone(), metadata: BTreeMap::new() };
                self.at(&place).insert(place.name, tenant);
            }
            Event::TenantDeleted(place) => drop(self.at(&place).remove(&place.name)),
            Event::MetadataCreated { place, key, value } => {
                if let Some(tenant) = self.at(&place).get_mut(&place.name) {
                    tenant.metadata.insert(key, value);
                }
            }
            Event::MetadataDeleted { place, key } => {
                if let Some(tenant) = self.at(&place).get_mut(&place.name) {
                    tenant.metadata.remove(&key);
                }
            }
            Event::Switched(switches) => self.switches = switches,
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::TenantCreated(place) => format!("create tenant/{}", place.id()),
            Event::TenantDeleted(place) => format!("delete tenant/{}", place.id()),
            Event::MetadataCreated { place, key, .. } => {
                format!("create metadata/{key} of tenant/{}", place.id())
            }
            Event::MetadataDeleted { place, key } => {
                format!("delete metadata/{key} of tenant/{}", place.id())
            }
            Event::Switched(_) => "switch".into(),
        }
    }
}
