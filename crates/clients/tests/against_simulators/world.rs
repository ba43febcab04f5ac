//! The landscape on a socket, and clients of its issuer and its Director.

use std::{sync::Arc, time::Duration};

use base::Clock;
use clients::{CallLimits, Component, Gate, Grant, Http, TokenSource, director::Director};
use simulators::{
    ledger::{Filter, Ledger, Phase},
    system::System,
    testing::{MACHINE, Running, TENANTS},
    trouble::Troubles,
};
use tempfile::TempDir;

pub(crate) const TENANT: &str = TENANTS[0];

/// Long enough for a busy machine, short enough to wait for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(4);

pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) clock: Clock,
    _folder: TempDir,
}

impl World {
    /// At a time that the test holds.
    pub(crate) async fn new() -> Self {
        Self::at(Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap())).await
    }

    pub(crate) async fn at(clock: Clock) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let running = Running::start(folder.path(), clock.clone(), 7).await;
        Self { running, clock, _folder: folder }
    }

    pub(crate) fn side(&self) -> (&Troubles, &Ledger) {
        (self.troubles(), self.running.landscape.ledger())
    }

    pub(crate) fn troubles(&self) -> &Troubles {
        self.running.landscape.troubles()
    }

    pub(crate) fn limits() -> CallLimits {
        CallLimits { call: PATIENCE, ..CallLimits::DEFAULT }
    }

    /// A new token source for the landscape's machine.
    pub(crate) fn tokens(&self) -> Arc<TokenSource> {
        let grant = Grant::ClientCredentials {
            id: MACHINE.0.into(),
            secret: MACHINE.1.to_owned().into(),
            scope: "runtime:read runtime:write".into(),
        };
        self.tokens_for(grant)
    }

    pub(crate) fn tokens_for(&self, grant: Grant) -> Arc<TokenSource> {
        let endpoint = format!("{}/oauth2/token", self.running.url).parse().unwrap();
        let gate = Gate::new(Component::ISSUER, Self::limits(), self.clock.clone());
        TokenSource::through(gate, endpoint, grant).unwrap()
    }

    pub(crate) fn http(&self, limits: CallLimits) -> Http {
        let url = format!("{}/director/graphql", self.running.url).parse().unwrap();
        let gate = Gate::new(Component::DIRECTOR, limits, self.clock.clone());
        Http::through(gate, url).unwrap()
    }

    pub(crate) fn director(&self) -> Director {
        Director::new(self.http(Self::limits()).with_token(self.tokens()))
    }

    /// The ids of the runtimes that the Director has under a name.
    pub(crate) fn runtimes(&self, name: &str) -> Vec<String> {
        let objects = self.running.landscape.director().objects();
        let named = objects.into_iter().filter(|object| {
            object.kind == "runtime" && object.value["name"].as_str() == Some(name)
        });
        named.map(|object| object.id).collect()
    }

    /// How many calls a system has received.
    pub(crate) fn received(&self, system: &str) -> u64 {
        self.running.landscape.ledger().sums(system).received
    }

    /// The changes of a system, in the ledger's words.
    pub(crate) fn applied(&self, system: &str) -> Vec<String> {
        let (system, phase) = (Some(system.into()), Some(Phase::Applied));
        let filter = Filter { system, phase, ..Filter::default() };
        let entries = self.running.landscape.ledger().all(&filter).unwrap();
        entries.into_iter().filter_map(|entry| entry.object).collect()
    }
}
