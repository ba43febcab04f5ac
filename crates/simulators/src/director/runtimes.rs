//! The runtimes the Director knows, each under its tenant.

use std::collections::{BTreeMap, BTreeSet};

use async_graphql::Enum;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::store::State;

/// How a runtime is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum, Serialize, Deserialize)]
#[graphql(name = "RuntimeStatusCondition")]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Condition {
    Initial,
    Provisioning,
    Connected,
    Failed,
}

/// One runtime.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Runtime {
    pub(super) id: String,
    pub(super) tenant: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) labels: Map<String, Value>,
    pub(super) condition: Condition,
    pub(super) condition_at: Timestamp,
    pub(super) created_at: Timestamp,
}

/// Everything the Director keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Runtimes {
    pub(super) by_id: BTreeMap<String, Runtime>,
    /// One-time tokens, and the runtime each is for.
    pub(super) tokens: BTreeMap<String, String>,
    /// When each token was given.
    #[serde(default)]
    pub(super) given_at: BTreeMap<String, Timestamp>,
    /// Which exchange used each token.
    #[serde(default)]
    pub(super) used: BTreeMap<String, String>,
    /// How many were ever registered.
    pub(super) registered: u64,
    /// Tenants added by an operator.
    pub(super) tenants: BTreeSet<String>,
    /// Whether the runtime agent is played here, if an operator said so.
    pub(super) plays_agent: Option<bool>,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    Registered(Runtime),
    Updated(Runtime),
    Unregistered {
        id: String,
    },
    Labelled {
        id: String,
        key: String,
        value: Value,
    },
    TokenGiven {
        id: String,
        token: String,
        #[serde(default)]
        at: Option<Timestamp>,
    },
    TokenUsed {
        id: String,
        token: String,
        by: String,
    },
    Connected {
        id: String,
        at: Timestamp,
        console: String,
    },
    TenantAdded {
        id: String,
    },
    AgentSwitched {
        on: bool,
    },
}

impl Runtimes {
    /// A runtime, if it is this tenant's.
    pub(super) fn of(&self, tenant: &str, id: &str) -> Option<&Runtime> {
        self.by_id.get(id).filter(|runtime| runtime.tenant == tenant)
    }

    /// Whether another runtime of the tenant has this name.
    pub(super) fn has_name(&self, tenant: &str, name: &str, besides: Option<&str>) -> bool {
        self.by_id.values().any(|runtime| {
            runtime.tenant == tenant && runtime.name == name && Some(&*runtime.id) != besides
        })
    }
}

impl State for Runtimes {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Registered(runtime) => {
                self.registered += 1;
                self.by_id.insert(runtime.id.clone(), runtime);
            }
            Event::Updated(runtime) => drop(self.by_id.insert(runtime.id.clone(), runtime)),
            Event::Unregistered { id } => {
                self.by_id.remove(&id);
                self.tokens.retain(|_, runtime| *runtime != id);
                let tokens = &self.tokens;
                self.given_at.retain(|token, _| tokens.contains_key(token));
                self.used.retain(|token, _| tokens.contains_key(token));
            }
            Event::Labelled { id, key, value } => {
                if let Some(runtime) = self.by_id.get_mut(&id) {
                    runtime.labels.insert(key, value);
                }
            }
            Event::TokenGiven { id, token, at } => {
                if let Some(at) = at {
                    self.given_at.insert(token.clone(), at);
                }
                self.tokens.insert(token, id);
            }
            Event::TokenUsed { token, by, .. } => drop(self.used.insert(token, by)),
            Event::Connected { id, at, console } => {
                if let Some(runtime) = self.by_id.get_mut(&id) {
                    runtime.labels.insert("runtime_consoleUrl".into(), console.into());
                    (runtime.condition, runtime.condition_at) = (Condition::Connected, at);
                }
            }
            Event::TenantAdded { id } => drop(self.tenants.insert(id)),
            Event::AgentSwitched { on } => self.plays_agent = Some(on),
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::Registered(runtime) => format!("registerRuntime runtime/{}", runtime.id),
            Event::Updated(runtime) => format!("updateRuntime runtime/{}", runtime.id),
            Event::Unregistered { id } => format!("unregisterRuntime runtime/{id}"),
            Event::Labelled { id, .. } => format!("setRuntimeLabel runtime/{id}"),
            Event::TokenGiven { id, .. } => format!("requestOneTimeTokenForRuntime runtime/{id}"),
            // The ledger is open to everybody who may look: no token in it.
            Event::TokenUsed { id, .. } => format!("exchangeToken runtime/{id}"),
            Event::Connected { id, .. } => format!("connect runtime/{id}"),
            Event::TenantAdded { id } => format!("addTenant tenant/{id}"),
            Event::AgentSwitched { .. } => "switch agent".into(),
        }
    }
}
