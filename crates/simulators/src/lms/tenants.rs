//! The tenants and certificates that the service knows.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::authority::Authority;
use crate::store::State;

/// How far a tenant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    Requested,
    /// One of two names resolves.
    Partial,
    Ready,
}

/// One tenant.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tenant {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) region: String,
    pub(super) cluster_type: String,
    pub(super) environment: String,
    pub(super) global_account: String,
    pub(super) requested_at: Timestamp,
    pub(super) stage: Stage,
    pub(super) authority_shown: bool,
}

/// One certificate: signed at once, shown later.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Certificate {
    pub(super) id: String,
    pub(super) tenant: String,
    pub(super) pem: String,
    pub(super) requested_at: Timestamp,
    pub(super) shown: bool,
}

/// What an operator has ordered.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is turned on and off by itself")]
pub(super) struct LmsFaults {
    /// Tenants stay as they are.
    pub(super) never_ready: bool,
    /// No certificate is ever there.
    pub(super) withheld: bool,
    /// Certificates are something else.
    pub(super) spoilt: bool,
    /// Callbacks point to where nobody is.
    pub(super) dead_callback: bool,
}

/// Everything the service keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tenants {
    pub(super) by_id: BTreeMap<String, Tenant>,
    pub(super) certificates: BTreeMap<String, Certificate>,
    /// How many things were ever made.
    pub(super) made: u64,
    pub(super) authority: Option<Authority>,
    #[serde(default)]
    pub(super) switches: LmsFaults,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    Created(Tenant),
    Moved { id: String, stage: Stage },
    AuthorityMade(Authority),
    AuthorityShown { id: String },
    Requested(Certificate),
    Signed { id: String },
    Deleted { id: String },
    Switched(LmsFaults),
}

impl State for Tenants {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Created(tenant) => {
                self.made += 1;
                self.by_id.insert(tenant.id.clone(), tenant);
            }
            Event::Moved { id, stage } => {
                if let Some(tenant) = self.by_id.get_mut(&id) {
                    tenant.stage = stage;
                }
            }
            Event::AuthorityMade(authority) => self.authority = Some(authority),
            Event::AuthorityShown { id } => {
                if let Some(tenant) = self.by_id.get_mut(&id) {
                    tenant.authority_shown = true;
                }
            }
            Event::Requested(certificate) => {
                self.made += 1;
                self.certificates.insert(certificate.id.clone(), certificate);
            }
            Event::Signed { id } => {
                if let Some(certificate) = self.certificates.get_mut(&id) {
                    certificate.shown = true;
                }
            }
            Event::Deleted { id } => {
                self.by_id.remove(&id);
                self.certificates.retain(|_, certificate| certificate.tenant != id);
            }
            Event::Switched(switches) => self.switches = switches,
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::Created(tenant) => format!("create tenant/{}", tenant.id),
            Event::Moved { id, .. } => format!("move tenant/{id}"),
            Event::AuthorityMade(_) => "make authority".into(),
            Event::AuthorityShown { id } => format!("show authority of tenant/{id}"),
            Event::Requested(certificate) => format!("request certificate/{}", certificate.id),
            Event::Signed { id } => format!("sign certificate/{id}"),
            Event::Deleted { id } => format!("delete tenant/{id}"),
            Event::Switched(_) => "switch".into(),
        }
    }
}
