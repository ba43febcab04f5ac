//! Subscriptions and what is in them.

use std::collections::{BTreeMap, BTreeSet};

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::store::State;

/// The credentials of a subscription. The secret is kept as a digest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Subscription {
    pub(super) tenant: String,
    pub(super) client: String,
    pub(super) secret: String,
    pub(super) revoked: bool,
}

/// A token that was given.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Token {
    pub(super) client: String,
    pub(super) given_at: Timestamp,
    pub(super) until: Timestamp,
}

/// A resource group.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Group {
    pub(super) subscription: String,
    pub(super) name: String,
    pub(super) location: String,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) deleting_since: Option<Timestamp>,
    /// Its deletion never ends.
    pub(super) stuck: bool,
    /// It cannot be deleted.
    pub(super) locked: bool,
}

/// An event hubs namespace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Namespace {
    pub(super) name: String,
    pub(super) location: String,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) made_at: Timestamp,
    pub(super) fails: bool,
}

/// A machine type in a region.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Sku {
    pub(super) machine: String,
    pub(super) zones: Vec<String>,
    pub(super) restricted: Vec<String>,
    /// Without a word about where it is.
    pub(super) bare: bool,
}

/// How a caller learns how far a namespace is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Polling {
    /// By an address in `Azure-AsyncOperation`.
    #[default]
    Operation,
    /// By an address in `Location`.
    Location,
    /// By looking at the namespace.
    Resource,
}

/// Everything Azure keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    pub(super) subscriptions: BTreeMap<String, Subscription>,
    /// By digest.
    pub(super) tokens: BTreeMap<String, Token>,
    pub(super) tokens_good_after: Option<Timestamp>,
    pub(super) groups: BTreeMap<String, Group>,
    /// By the key of the group and the name in small letters.
    pub(super) namespaces: BTreeMap<String, BTreeMap<String, Namespace>>,
    /// By region.
    pub(super) skus: BTreeMap<String, Vec<Sku>>,
    pub(super) page: Option<usize>,
    pub(super) polling: Polling,
    pub(super) quota_used_up: bool,
    pub(super) keys_blank: bool,
    pub(super) failing: BTreeSet<String>,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    SubscriptionAdded { id: String, subscription: Subscription },
    Revoked { id: String, on: bool },
    TokenGiven { digest: String, token: Token },
    TokensExpired { at: Timestamp },
    GroupPut { key: String, group: Group },
    GroupDeleting { key: String, at: Timestamp },
    GroupGone { key: String },
    NamespacePut { group: String, namespace: Namespace },
    SkuSet { location: String, sku: Sku },
    PageSet { size: Option<usize> },
    PollingSet { polling: Polling },
    QuotaSet { used_up: bool },
    KeysBlank { on: bool },
    NamespaceFails { name: String, on: bool },
}

/// The key of a group: names are the same in any case.
pub(super) fn key(subscription: &str, group: &str) -> String {
    format!("{subscription}/{}", group.to_lowercase())
}

/// The digest of a secret.
pub(super) fn digest_of(text: &str) -> String {
    BASE64_STANDARD.encode(digest(&SHA256, text.as_bytes()))
}

impl State for Records {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::SubscriptionAdded { id, subscription } => {
                self.subscriptions.insert(id, subscription);
            }
            Event::Revoked { id, on } => {
                if let Some(subscription) = self.subscriptions.get_mut(&id) {
                    subscription.revoked = on;
                }
            }
            Event::TokenGiven { digest, token } => {
                self.tokens.retain(|_, kept| kept.until > token.given_at);
                self.tokens.insert(digest, token);
            }
            Event::TokensExpired { at } => self.tokens_good_after = Some(at),
            Event::GroupPut { key, group } => drop(self.groups.insert(key, group)),
            Event::GroupDeleting { key, at } => {
                if let Some(group) = self.groups.get_mut(&key) {
                    group.deleting_since = group.deleting_since.or(Some(at));
                }
            }
            Event::GroupGone { key } => {
                self.groups.remove(&key);
                self.namespaces.remove(&key);
            }
            Event::NamespacePut { group, namespace } => {
                let name = namespace.name.to_lowercase();
                self.namespaces.entry(group).or_default().insert(name, namespace);
            }
            Event::SkuSet { location, sku } => {
                let skus = self.skus.entry(location).or_default();
                skus.retain(|kept| kept.machine != sku.machine);
                skus.push(sku);
            }
            Event::PageSet { size } => self.page = size,
            Event::PollingSet { polling } => self.polling = polling,
            Event::QuotaSet { used_up } => self.quota_used_up = used_up,
            Event::KeysBlank { on } => self.keys_blank = on,
            Event::NamespaceFails { name, on: true } => drop(self.failing.insert(name)),
            Event::NamespaceFails { name, on: false } => drop(self.failing.remove(&name)),
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::SubscriptionAdded { id, .. } => format!("add subscription/{id}"),
            Event::Revoked { id, .. } => format!("revoke subscription/{id}"),
            Event::TokenGiven { token, .. } => format!("give token/{}", token.client),
            Event::TokensExpired { .. } => "expire tokens".into(),
            Event::GroupPut { key, .. } => format!("put group/{key}"),
            Event::GroupDeleting { key, .. } => format!("delete group/{key}"),
            Event::GroupGone { key } => format!("forget group/{key}"),
            Event::NamespacePut { group, namespace } => {
                format!("put namespace/{group}/{}", namespace.name)
            }
            Event::SkuSet { location, sku } => format!("set sku/{location}/{}", sku.machine),
            Event::NamespaceFails { name, .. } => format!("script namespace/{name}"),
            Event::PageSet { .. }
            | Event::PollingSet { .. }
            | Event::QuotaSet { .. }
            | Event::KeysBlank { .. } => "switch azure".into(),
        }
    }
}
