//! The service providers that the company has.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::store::State;

/// One service provider.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Provider {
    pub(super) id: String,
    pub(super) display_name: String,
    pub(super) user_for_rest: String,
    /// What was configured, under the names that the company shows.
    pub(super) configured: Map<String, Value>,
    pub(super) secrets: Vec<Secret>,
    /// In how many readings of the company it is not seen yet.
    #[serde(default)]
    pub(super) hidden_for: u32,
}

/// A secret; its value is not kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Secret {
    #[serde(rename = "clientSecretId")]
    pub(super) id: String,
    pub(super) description: String,
    pub(super) scopes: Vec<String>,
}

/// What an operator has ordered.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct IasFaults {
    /// In how many readings a new provider is not seen.
    pub(super) hide_new: u32,
    /// Whether a name may be taken twice.
    pub(super) twins: bool,
    /// How many more access rules cannot be set.
    pub(super) failing_access: u32,
    /// How many providers of others the company shows.
    pub(super) others: u32,
}

/// Everything the service keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Providers {
    /// In the order in which they were made.
    pub(super) kept: Vec<Provider>,
    pub(super) created: u64,
    pub(super) secrets_created: u64,
    #[serde(default)]
    pub(super) switches: IasFaults,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    Created(Provider),
    Configured { id: String, what: String, values: Map<String, Value> },
    SecretCreated { id: String, secret: Secret },
    SecretsDeleted { id: String, secrets: Vec<String> },
    Deleted { id: String },
    Seen,
    Switched(IasFaults),
}

impl Providers {
    pub(super) fn find(&self, id: &str) -> Option<&Provider> {
        self.kept.iter().find(|provider| provider.id == id)
    }

    fn find_mut(&mut self, id: &str) -> Option<&mut Provider> {
        self.kept.iter_mut().find(|provider| provider.id == id)
    }
}

impl State for Providers {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Created(provider) => {
                self.created += 1;
                self.kept.push(provider);
            }
            Event::Configured { id, values, .. } => {
                if let Some(provider) = self.find_mut(&id) {
                    provider.configured.extend(values);
                }
            }
            Event::SecretCreated { id, secret } => {
                self.secrets_created += 1;
                if let Some(provider) = self.find_mut(&id) {
                    provider.secrets.push(secret);
                }
            }
            Event::SecretsDeleted { id, secrets } => {
                if let Some(provider) = self.find_mut(&id) {
                    provider.secrets.retain(|kept| !secrets.contains(&kept.id));
                }
            }
            Event::Deleted { id } => self.kept.retain(|provider| provider.id != id),
            Event::Seen => {
                for provider in &mut self.kept {
                    provider.hidden_for = provider.hidden_for.saturating_sub(1);
                }
            }
            Event::Switched(switches) => self.switches = switches,
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::Created(provider) => format!("create provider/{}", provider.id),
            Event::Configured { id, what, .. } => format!("{what} provider/{id}"),
            Event::SecretCreated { id, .. } => format!("createSecret provider/{id}"),
            Event::SecretsDeleted { id, .. } => format!("deleteSecrets provider/{id}"),
            Event::Deleted { id } => format!("delete provider/{id}"),
            Event::Seen => "see providers".into(),
            Event::Switched(_) => "switch".into(),
        }
    }
}
