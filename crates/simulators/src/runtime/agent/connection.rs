//! The `CompassConnection`: what it says, and the changes that the agent makes to it.

use kube::api::DynamicObject;
use serde_json::{Value, json};

use super::configuration::Credentials;

/// Digests of the tokens that were tried.
const TRIED: &str = "landscape.kcp.dev/tried";
/// The digest of the token that is being tried.
const TRYING: &str = "landscape.kcp.dev/trying";
/// The namespace with the credentials.
const HOME: &str = "landscape.kcp.dev/credentials";
/// The order that has taken the connection away; it is followed once, so that a new token helps.
const LOST: &str = "landscape.kcp.dev/lost";
/// How many tried tokens are remembered.
const REMEMBERED: usize = 16;

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Connected,
    ConnectionFailed,
    ConnectionMaintenanceFailed,
    Synchronized,
    SynchronizationFailed,
    MetadataUpdateFailed,
}

const STATES: [(State, &str); 6] = [
    (State::Connected, "Connected"),
    (State::ConnectionFailed, "ConnectionFailed"),
    (State::ConnectionMaintenanceFailed, "ConnectionMaintenanceFailed"),
    (State::Synchronized, "Synchronized"),
    (State::SynchronizationFailed, "SynchronizationFailed"),
    (State::MetadataUpdateFailed, "MetadataUpdateFailed"),
];

impl State {
    fn word(self) -> &'static str {
        STATES.iter().find(|(state, _)| *state == self).map_or("", |(_, word)| word)
    }
}

/// A connection as it was found.
#[derive(Clone, Copy)]
pub(super) struct Connection<'a>(pub(super) &'a DynamicObject);

/// Says which token is being tried.
pub(super) fn trying(digest: &str) -> Value {
    json!({"metadata": {"annotations": {TRYING: digest}}})
}

impl<'a> Connection<'a> {
    fn annotation(self, name: &str) -> Option<&'a str> {
        self.0.metadata.annotations.as_ref()?.get(name).map(String::as_str)
    }

    /// How it is.
    pub(super) fn state(self) -> Option<State> {
        let word = self.0.data["status"]["connectionState"].as_str()?;
        STATES.iter().find(|(_, found)| *found == word).map(|(state, _)| *state)
    }

    /// Whether a token was tried, with whatever result.
    pub(super) fn has_tried(self, digest: &str) -> bool {
        self.annotation(TRIED).is_some_and(|tried| tried.split(' ').any(|one| one == digest))
    }

    /// The token that is being tried.
    pub(super) fn trying(self) -> Option<&'a str> {
        self.annotation(TRYING)
    }

    /// Where the credentials are.
    pub(super) fn home(self) -> &'a str {
        self.annotation(HOME).unwrap_or("kyma-system")
    }

    /// Whether a wish is open.
    pub(super) fn asks(self, wish: &str) -> bool {
        self.0.data["spec"][wish] == true
    }

    /// The key under which one exchange may be repeated.
    pub(super) fn key(self, digest: &str) -> String {
        format!("{}-{digest}", self.0.metadata.uid.as_deref().unwrap_or_default())
    }

    fn remembering(self, digest: &str) -> String {
        let tried = self.annotation(TRIED).unwrap_or_default();
        let mut tried: Vec<&str> = tried.split(' ').filter(|one| !one.is_empty()).collect();
        tried.push(digest);
        tried.split_off(tried.len().saturating_sub(REMEMBERED)).join(" ")
    }

    /// Says that a token is of no further use.
    pub(super) fn tried(self, digest: &str) -> Value {
        json!({"metadata": {"annotations": {TRIED: self.remembering(digest), TRYING: null}}})
    }

    /// Whether an order has taken the connection away already.
    pub(super) fn lost_by(self, order: &str) -> bool {
        self.annotation(LOST) == Some(order)
    }

    /// Says that an order has taken the connection away.
    pub(super) fn lost(order: &str) -> Value {
        let why = "the connection to the Director is lost";
        let mut change = Self::failed(State::ConnectionFailed, why);
        change["metadata"] = json!({"annotations": {LOST: order}});
        change
    }

    /// Says what failed.
    pub(super) fn failed(state: State, why: &str) -> Value {
        let part = match state {
            State::SynchronizationFailed | State::MetadataUpdateFailed => "synchronizationStatus",
            _ => "connectionStatus",
        };
        json!({"status": {"connectionState": state.word(), part: {"error": why}}})
    }

    /// Says that there are credentials now.
    pub(super) fn connected(
        self,
        digest: &str,
        home: &str,
        credentials: &Credentials,
        now: &str,
    ) -> Value {
        let mut change = self.tried(digest);
        change["metadata"]["annotations"][HOME] = json!(home);
        change["spec"] = json!({"managementInfo": {
            "directorUrl": credentials.director_url,
            "connectorUrl": credentials.connector_url,
        }});
        change["status"] = json!({
            "connectionState": State::Connected.word(),
            "connectionStatus": {
                "established": now,
                "lastSync": now,
                "lastSuccess": now,
                "certificateStatus": certificate(credentials, now),
                "error": null,
            },
        });
        change
    }

    /// Says that the credentials are new.
    pub(super) fn renewed(credentials: &Credentials, now: &str) -> Value {
        json!({
            "spec": {"refreshCredentialsNow": false},
            "status": {
                "connectionState": State::Connected.word(),
                "connectionStatus": {
                    "renewed": now,
                    "lastSuccess": now,
                    "certificateStatus": certificate(credentials, now),
                    "error": null,
                },
            },
        })
    }

    /// Says that the Director knows.
    pub(super) fn synchronized(now: &str) -> Value {
        json!({
            "spec": {"resyncNow": false},
            "status": {
                "connectionState": State::Synchronized.word(),
                "connectionStatus": {"lastSync": now, "lastSuccess": now},
                "synchronizationStatus": {
                    "lastAttempt": now,
                    "lastSuccessfulFetch": now,
                    "lastSuccessfulApplication": now,
                    "error": null,
                },
            },
        })
    }
}

fn certificate(credentials: &Credentials, now: &str) -> Value {
    json!({
        "acquired": now,
        "notBefore": credentials.valid_from,
        "notAfter": credentials.valid_until,
    })
}
