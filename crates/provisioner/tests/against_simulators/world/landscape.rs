//! The landscape that a provisioner of the tests reaches, as fast as can be.

use std::{num::NonZeroUsize, time::Duration};

use base::Clock;
use clients::{
    CallLimits as Calls, Component, Gate, Grant, Http, TokenSource,
    director::Director,
    gardener::Gardener,
    kubernetes::{Cluster, Clusters},
    releases::Releases,
};
use provisioner::{
    operations::{Env, OWNER, StepSettings},
    shoots::{AuditTenants, Rules},
};
use secrecy::SecretString;
use simulators::{
    garden::Version,
    pace::Speed,
    testing::{MACHINE, Options, Running},
};
use store::ProvisionerStore;
use tempfile::TempDir;
use url::Url;

/// The project of the simulated garden.
const PROJECT: &str = "kyma";

/// A landscape as fast as can be.
pub(crate) struct Landscape {
    pub(crate) running: Running,
    pub(crate) clock: Clock,
    /// How steps work in it.
    pub(super) settings: StepSettings,
    /// Where audit logs go.
    pub(super) audit_tenants: AuditTenants,
    pub(super) _folder: TempDir,
}

impl Landscape {
    pub(crate) async fn start() -> Self {
        Self::playing(Version::default()).await
    }

    /// The same with a garden that plays this Gardener.
    pub(crate) async fn playing(gardener: Version) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::running();
        let mut options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
        options.clusters.garden.version = gardener;
        let running = Running::with(folder.path(), clock.clone(), 1, options).await;
        let settings =
            StepSettings { agent_patience: Duration::from_secs(1), ..StepSettings::default() };
        let audit_tenants = AuditTenants::default();
        Self { running, clock, settings, audit_tenants, _folder: folder }
    }

    /// The environment of the steps, with rows in `store`; calls are timed by `clock`.
    pub(crate) async fn env(&self, store: ProvisionerStore, clock: &Clock) -> Env {
        let kubeconfig = SecretString::from(self.running.clusters().garden_kubeconfig());
        let calls = Calls { call: Duration::from_secs(10), ..Calls::CLUSTER };
        let garden = Gate::new(Component::GARDENER, calls, clock.clone());
        let garden = Cluster::connect(garden, &kubeconfig).await.unwrap();
        let at = |path: &str| -> Url { format!("{}{path}", self.running.url).parse().unwrap() };
        let grant = Grant::ClientCredentials {
            id: MACHINE.0.into(),
            secret: MACHINE.1.to_owned().into(),
            scope: "runtime:read runtime:write".into(),
        };
        let tokens = TokenSource::new(at("/oauth2/token"), grant, clock.clone()).unwrap();
        let director = Gate::new(Component::DIRECTOR, calls, clock.clone());
        let director = Http::through(director, at("/director/graphql")).unwrap().with_token(tokens);
        let releases = || {
            let gate = Gate::new(Component::RELEASES, calls, clock.clone());
            Http::through(gate, at("/kyma-releases")).unwrap()
        };
        let kept = NonZeroUsize::new(100).unwrap();
        Env {
            gardener: Gardener::new(garden, PROJECT, OWNER),
            director: Director::new(director),
            clusters: Clusters::new(Component::RUNTIME, calls, clock.clone(), kept),
            releases: Releases::new(releases(), releases()),
            store,
            rules: Rules { project: PROJECT.into(), ..Rules::default() },
            audit_tenants: self.audit_tenants.clone(),
            settings: self.settings.clone(),
        }
    }
}
