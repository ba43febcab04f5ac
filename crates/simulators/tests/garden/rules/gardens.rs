//! The gardens of one version that the requests of the table are sent to.

use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use super::{
    states::{api, patch},
    table::{change, create, settled},
};
use crate::support::Garden;

/// One garden of each sort, with a reconciled Shoot in those that are asked for changes.
pub(super) struct Gardens {
    usual: (Garden, Value),
    bare: (Garden, Value),
    rangeless: Garden,
}

impl Gardens {
    pub(super) async fn of_version(version: Version) -> Option<Self> {
        let usual = Garden::of_version(version, Speed::MAX).await?;
        let bare = Garden::bare(version, Speed::MAX).await?;
        let rangeless = Garden::of_version(version, Speed::MAX).await?;
        let without = json!({"spec": {"networks": {"shootDefaults": null}}});
        for seed in ["aws-ha-eu1", "gcp-ha-eu1"] {
            patch(&api(&rangeless, "Seed"), seed, without.clone()).await.unwrap();
        }
        let (in_usual, in_bare) = (settled(&usual).await, settled(&bare).await);
        Some(Self { usual: (usual, in_usual), bare: (bare, in_bare), rangeless })
    }

    /// Sends the request of a row without storing anything.
    pub(super) async fn send(&self, request: &str) -> (u16, Value) {
        let word = request.split([' ', '?', '/']).next().unwrap();
        let rest = || request[word.len()..].trim_start();
        match word {
            "bare" => send(&self.bare.0, &self.bare.1, rest()).await,
            "rangeless" => send(&self.rangeless, &Value::Null, rest()).await,
            _ => send(&self.usual.0, &self.usual.1, request).await,
        }
    }
}

async fn send(garden: &Garden, live: &Value, request: &str) -> (u16, Value) {
    let (verb, rest) = request.split_once(' ').unwrap();
    match verb.split_once('?').unwrap_or((verb, "")) {
        ("create", query) => create(garden, query, rest).await,
        _ => change(garden, live, request).await,
    }
}
