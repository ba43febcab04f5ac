//! The stored records of the issuer: keys, codes, devices, refresh tokens.
//!
//! Secrets that were handed out are kept as digests only; a reader of the log cannot use them.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::registered_clients::{Person, RegisteredClient};
use crate::store::State;

/// How many refresh tokens are good at once.
const MOST_REFRESHES: usize = 10_000;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    /// Keys made by rotation, newest last.
    pub(super) keys: Vec<String>,
    /// How many of the oldest keys are not published any more.
    pub(super) withdrawn: usize,
    /// Tokens issued before are not accepted any more.
    pub(super) expired_before: Option<Timestamp>,
    /// How long new tokens stay valid, if an operator said so.
    pub(super) lifetime_seconds: Option<u64>,
    /// Whom new tokens are for, if an operator said so.
    #[serde(default)]
    pub(super) audience: Option<Vec<String>>,
    pub(super) codes: BTreeMap<String, Code>,
    pub(super) devices: BTreeMap<String, Device>,
    pub(super) refreshes: BTreeMap<String, GrantRecord>,
    /// Clients that an operator added.
    #[serde(default)]
    pub(super) clients: BTreeMap<String, RegisteredClient>,
    /// People that an operator added.
    #[serde(default)]
    pub(super) people: BTreeMap<String, Person>,
}

/// What a person has granted to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GrantRecord {
    pub(super) client: String,
    pub(super) user: String,
    pub(super) scopes: Vec<String>,
    pub(super) nonce: Option<String>,
}

/// An authorization code.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Code {
    pub(super) granted: GrantRecord,
    pub(super) redirect: String,
    pub(super) challenge: String,
    pub(super) given_at: Timestamp,
    pub(super) until: Timestamp,
}

/// A device that waits for a person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Device {
    pub(super) user_code: String,
    pub(super) client: String,
    pub(super) scope: Option<String>,
    pub(super) decision: Decision,
    pub(super) interval: u64,
    pub(super) polled_at: Option<Timestamp>,
    pub(super) given_at: Timestamp,
    pub(super) until: Timestamp,
}

/// What the person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Decision {
    Open,
    Denied,
    Allowed(GrantRecord),
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    KeyMade { pem: String, withdraw: bool },
    TokensExpired { at: Timestamp },
    LifetimeSet { seconds: Option<u64> },
    AudienceSet { audience: Option<Vec<String>> },
    CodeGiven { digest: String, code: Code },
    CodeUsed { digest: String },
    DeviceAsked { digest: String, device: Device },
    DeviceDecided { digest: String, decision: Decision },
    DevicePolled { digest: String, at: Timestamp, interval: u64 },
    DeviceUsed { digest: String },
    RefreshGiven { digest: String, granted: GrantRecord },
    RefreshUsed { digest: String },
    ClientAdded { client: RegisteredClient },
    ClientRemoved { id: String },
    PersonAdded { person: Person },
    PersonRemoved { name: String },
}

impl State for Records {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::KeyMade { pem, withdraw } => {
                self.keys.push(pem);
                if withdraw {
                    self.withdrawn = self.keys.len();
                }
            }
            Event::TokensExpired { at } => {
                self.expired_before = Some(at);
                self.refreshes.clear();
            }
            Event::LifetimeSet { seconds } => self.lifetime_seconds = seconds,
            Event::AudienceSet { audience } => self.audience = audience,
            Event::CodeGiven { digest, code } => {
                self.codes.retain(|_, kept| kept.until > code.given_at);
                self.codes.insert(digest, code);
            }
            Event::CodeUsed { digest } => drop(self.codes.remove(&digest)),
            Event::DeviceAsked { digest, device } => {
                self.devices.retain(|_, kept| kept.until > device.given_at);
                self.devices.insert(digest, device);
            }
            Event::DeviceDecided { digest, decision } => {
                if let Some(device) = self.devices.get_mut(&digest) {
                    device.decision = decision;
                }
            }
            Event::DevicePolled { digest, at, interval } => {
                if let Some(device) = self.devices.get_mut(&digest) {
                    (device.polled_at, device.interval) = (Some(at), interval);
                }
            }
            Event::DeviceUsed { digest } => drop(self.devices.remove(&digest)),
            Event::RefreshGiven { digest, granted } => {
                // They do not expire; without an end to their number the log would grow for ever.
                if self.refreshes.len() >= MOST_REFRESHES {
                    self.refreshes.pop_first();
                }
                self.refreshes.insert(digest, granted);
            }
            Event::RefreshUsed { digest } => drop(self.refreshes.remove(&digest)),
            Event::ClientAdded { client } => {
                self.clients.insert(client.id.clone(), client);
            }
            Event::ClientRemoved { id } => drop(self.clients.remove(&id)),
            Event::PersonAdded { person } => {
                self.people.insert(person.name.clone(), person);
            }
            Event::PersonRemoved { name } => drop(self.people.remove(&name)),
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::KeyMade { .. } => "makeKey key".into(),
            Event::TokensExpired { .. } => "expire tokens".into(),
            Event::LifetimeSet { .. } => "setLifetime tokens".into(),
            Event::AudienceSet { .. } => "setAudience tokens".into(),
            Event::CodeGiven { .. } => "give code".into(),
            Event::CodeUsed { .. } => "use code".into(),
            Event::DeviceAsked { device, .. } => format!("ask device/{}", device.user_code),
            Event::DeviceDecided { .. } => "decide device".into(),
            Event::DevicePolled { .. } => "poll device".into(),
            Event::DeviceUsed { .. } => "use device".into(),
            Event::RefreshGiven { .. } => "give refresh-token".into(),
            Event::RefreshUsed { .. } => "use refresh-token".into(),
            Event::ClientAdded { client } => format!("add client/{}", client.id),
            Event::ClientRemoved { id } => format!("remove client/{id}"),
            Event::PersonAdded { person } => format!("add user/{}", person.name),
            Event::PersonRemoved { name } => format!("remove user/{name}"),
        }
    }
}

/// 244 random bits that nobody can guess.
pub(super) fn secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// The SHA-256 of a text, as PKCE writes it.
pub(super) fn digest_of(text: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}
