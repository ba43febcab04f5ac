//! Scenarios of a runtime: the `ConfigMap` `kube-system/landscape-scenario`.
//!
//! Key `agent`: `silent` (does nothing), `slow`, `refuse` (never connects), `disconnect` (loses its
//! connection once and needs a new token; with `=WORD`, once for every word), `sync-failed`, `metadata-failed`.
//! Key `btp`: `never` (lets go of nothing), `silent`, `slow`, `no-kinds` (does not bring its kinds).
//! Key `installer`: `fail=COMPONENT`, `recover=COMPONENT` (fails twice, then goes on), `silent`, `slow`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, Error};

/// Namespace and name.
pub(crate) const OBJECT: (&str, &str) = ("kube-system", "landscape-scenario");

/// Actors that take instructions, and the words that each of them knows.
pub(crate) const ACTORS: [(&str, &[&str]); 3] = [
    ("agent", &["silent", "slow", "refuse", "disconnect", "sync-failed", "metadata-failed"]),
    ("installer", &["fail", "recover", "silent", "slow"]),
    ("btp", &["never", "silent", "slow", "no-kinds"]),
];

/// How many times slower `slow` is.
pub(super) const SLOW: u32 = 10;

/// The words of one actor.
#[derive(Debug, Clone, Default)]
pub(super) struct Scenario(String);

impl Scenario {
    /// Reads what `actor` shall do; usually nothing special.
    pub(super) async fn read(client: &Client, actor: &str) -> Result<Self, Error> {
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), OBJECT.0);
        let data: BTreeMap<_, _> =
            maps.get_opt(OBJECT.1).await?.and_then(|map| map.data).unwrap_or_default();
        Ok(Self(data.get(actor).cloned().unwrap_or_default()))
    }

    /// Whether a word is there.
    pub(super) fn says(&self, word: &str) -> bool {
        self.words().any(|found| found == word)
    }

    /// The value of `word=`.
    pub(super) fn value(&self, word: &str) -> Option<&str> {
        self.words().find_map(|found| found.strip_prefix(word)?.strip_prefix('='))
    }

    /// An order that is followed once: the whole word, with what stands behind it.
    pub(super) fn order(&self, word: &str) -> Option<&str> {
        self.words().find(|found| found.split('=').next() == Some(word))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split(',').map(str::trim)
    }
}
