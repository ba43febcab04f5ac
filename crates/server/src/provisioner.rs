//! The runtime provisioner as a service: its database, its engine, what it reaches, what it answers.

mod from_settings;

use std::sync::Arc;

use anyhow::{Context, ensure};
use api::{
    RequestLimits, RequireScope, Verifier,
    graphql::QueryLimits,
    router::{ProvisionerParts, history_of_runtimes, provisioner, shielded, unsticking, watching},
    scope,
};
use axum::{Extension, Router};
use base::Clock;
use engine::Engine;
use provisioner::{
    Parts, Provisioner,
    chores::{abandoned_intents, failed_runtimes, garden_features, shoot_signals},
    operations::{deprovisioning, hibernation, provisioning, reconnection, upgrade, upgrade_shoot},
};
use store::{EngineStore, ProvisionerStore, Set};
use tokio::net::TcpListener;

use crate::{
    Speed, auditing,
    chores::Chores,
    counting,
    gates::Gates,
    keys,
    metrics::{self, Metrics},
    readiness::EngineReadiness,
    service_context::ServiceContext,
    serving::Serving,
    settings::provisioner::{Operations, ProvisionerSettings},
    shutdown,
};
pub(crate) use from_settings::ProvisionerAddresses;
#[cfg(test)]
pub(crate) use from_settings::defaults;

/// How long requests may go on after the order to stop.
const GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// A provisioner that works.
pub(crate) struct Service {
    pub(crate) engine: Engine<EngineStore>,
    pub(crate) provisioner: Provisioner,
    pub(crate) chores: Chores,
    metrics: Arc<Metrics>,
}

impl Service {
    /// Opens the database and begins to work.
    pub(crate) async fn start(
        settings: &ProvisionerSettings,
        place: ServiceContext,
        outside: ProvisionerAddresses,
        clock: &Clock,
    ) -> anyhow::Result<Self> {
        let limits = settings.limits.limits();
        let metrics = Arc::new(Metrics::of_provisioner());
        let gates = Gates::observed(clock, settings.transport.hosts(), metrics.calls());
        let tables = settings.database.tables();
        let engine = place.store("provisioner", tables, Set::Provisioner).await?;
        let store = ProvisionerStore::new(engine, clock.clone());
        let storage = store.engine().clone();
        let env = Arc::new(outside.env(settings, store.clone(), &gates).await?);
        let engine_settings = engine_settings(&settings.operations, place.replica, place.speed);
        let engine = Engine::builder(Arc::new(storage), clock.clone(), engine_settings)
            .serve(provisioning::plan(&limits), env.clone())?
            .serve(provisioning::plan_no_install(&limits), env.clone())?
            .serve(upgrade::plan(&limits), env.clone())?
            .serve(upgrade_shoot::plan(&limits), env.clone())?
            .serve(deprovisioning::plan(&limits), env.clone())?
            .serve(deprovisioning::plan_no_install(&limits), env.clone())?
            .serve(hibernation::plan(&limits), env.clone())?
            .serve(reconnection::plan(&limits), env.clone())?
            .start();
        let provisioner = Provisioner::new(Parts {
            store,
            engine: engine.clone(),
            env: env.clone(),
            defaults: from_settings::defaults(settings),
            limits,
            clock: clock.clone(),
        });
        let mut chores = Chores::default();
        let gardener = || env.gardener.clone();
        chores.start("shoot signals", shoot_signals::follow(gardener(), engine.clone()));
        chores.start("garden features", garden_features::keep(gardener(), clock.clone()));
        chores.start("failed runtimes", failed_runtimes::keep(provisioner.clone()));
        chores.start("abandoned intents", abandoned_intents::keep(provisioner.clone()));
        let operations = store::operations::Operations::new(engine.clone());
        let (audit, keep) = (operations.audit(), settings.operations.times().keep_audit);
        chores.start("sums", counting::keep(operations, metrics.clone(), clock.clone()));
        chores.start("audit", auditing::keep(audit, clock.clone(), keep));
        Ok(Self { engine, provisioner, chores, metrics })
    }

    /// Its routes, with the layers around them.
    pub(crate) fn router(&self, verifier: &Arc<Verifier>, limits: RequestLimits) -> Router {
        let counted = self.metrics.clone();
        tokio::spawn(counted.clone().count(self.engine.events()));
        let metrics = RequireScope::of_operators(verifier.clone(), scope::METRICS_READ)
            .around(metrics::router(counted, self.engine.clone()));
        let routes = provisioner(ProvisionerParts {
            provisioner: self.provisioner.clone(),
            readiness: Arc::new(EngineReadiness(self.engine.clone())),
            verifier: verifier.clone(),
            limits: query_limits(limits.time),
        });
        let operations = store::operations::Operations::new(self.engine.clone());
        let audit = operations.audit();
        let operations = watching(operations.clone(), verifier.clone())
            .merge(unsticking(operations.clone(), verifier.clone()))
            .merge(history_of_runtimes(operations, verifier.clone()));
        shielded(routes.merge(metrics).merge(operations).layer(Extension(audit)), limits)
    }

    /// Answers callers that wait for a change: requests end soon.
    pub(crate) fn end_waits(&self) {
        self.provisioner.end_waits();
    }

    /// Finishes what runs, hands back the rest, closes everything.
    pub(crate) async fn stop(mut self, drain: std::time::Duration) {
        self.chores.stop();
        self.engine.stop(drain).await;
        self.engine.storage().database().close().await;
    }
}

/// Limits of queries, for this limit of a request.
fn query_limits(request: std::time::Duration) -> QueryLimits {
    let wait = QueryLimits::DEFAULT.wait.min(request * 2 / 3);
    QueryLimits { wait, ..QueryLimits::DEFAULT }
}

/// How the engine works.
fn engine_settings(
    operations: &Operations,
    replica: Option<String>,
    speed: Speed,
) -> engine::Settings {
    // The pace is part of the speed; the end of the service knows how long it may drain, and the audit how long it is kept.
    let Operations { workers, lease, keep_journal, keep_audit: _, pace: _, drain: _ } = operations;
    engine::Settings {
        replica,
        lease: *lease,
        workers: workers.get().into(),
        pace: speed.factor(),
        keep_journal: *keep_journal,
        ..engine::Settings::default()
    }
}

/// Runs a provisioner until it is asked to stop: `kcp provisioner`.
pub async fn run(settings: ProvisionerSettings) -> anyhow::Result<()> {
    let clock = Clock::running();
    let (access, transport) = (&settings.access, &settings.transport);
    ensure!(!access.doors().is_empty(), "no way to authenticate: set access.issuers");
    let verifier = access.doors().verifier(&transport.hosts(), &clock)?;
    let acceptance = transport.acceptance(settings.listen, settings.connections.limits())?;
    let limits = settings.requests.limits()?;
    for exception in settings.exceptions()? {
        tracing::warn!("{exception}, because the settings say so");
    }
    let outside = ProvisionerAddresses::configured(&settings).await?;
    let sealer = keys::read(&settings.database.sealing_keys)?;
    let speed = Speed::Times(settings.operations.pace);
    let url = settings.database.url.clone();
    let place = ServiceContext { url, sealer, replica: None, speed };
    let listener = TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("{} cannot be listened on", settings.listen))?;
    let service = Service::start(&settings, place, outside, &clock).await?;
    let mut serving = Serving::new(&clock);
    let address = listener.local_addr()?;
    serving.add("the provisioner", listener, service.router(&verifier, limits), acceptance);
    tracing::info!(%address, "the provisioner answers");
    shutdown::requested().await?;
    service.end_waits();
    let drain = settings.operations.times().drain;
    serving.stop(GRACE.min(drain)).await;
    service.stop(drain).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn read(text: &str) -> ProvisionerSettings {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("provisioner.toml");
        std::fs::write(&file, text).unwrap();
        crate::settings::provisioner::load(Some(&file)).unwrap()
    }

    #[test]
    fn settings_of_operations_reach_the_engine() {
        let text = "[operations]\nkeep_journal = \"3d\"\nlease = \"7s\"\nworkers = 3\npace = 4.0\n";
        let settings = read(text);

        let speed = Speed::Times(settings.operations.pace);
        let engine = engine_settings(&settings.operations, Some("a".into()), speed);

        assert_eq!(engine.keep_journal, Duration::from_hours(72));
        assert_eq!((engine.lease, engine.workers), (Duration::from_secs(7), 3));
        assert!((engine.pace - 4.0).abs() < f64::EPSILON);
        assert_eq!(engine.replica.as_deref(), Some("a"));
    }

    #[test]
    fn a_query_waits_for_two_thirds_of_the_time_of_a_request_at_most() {
        let wait = |text: &str| {
            let limits = read(&format!("[requests]\n{text}\n")).requests.limits().unwrap();
            query_limits(limits.time).wait
        };

        assert_eq!(wait("time = \"6s\"\nbody_time = \"5s\""), Duration::from_secs(4));
        assert_eq!(wait("time = \"90s\""), QueryLimits::DEFAULT.wait);
    }

    #[test]
    fn settings_of_requests_and_connections_reach_the_listener() {
        let settings = read(
            "[requests]\nbody = 2000\nbody_time = \"2s\"\ntime = \"3s\"\n\
             [connections]\ntotal = 7\nper_peer = 5\nheader_time = \"3s\"\nidle_time = \"4s\"\n",
        );

        let (limits, connections) =
            (settings.requests.limits().unwrap(), settings.connections.limits());

        assert_eq!((limits.body, limits.body_time), (2_000, Duration::from_secs(2)));
        assert_eq!(limits.time, Duration::from_secs(3));
        assert_eq!((connections.total, connections.per_peer), (7, 5));
        assert_eq!(connections.header_time, Duration::from_secs(3));
        assert_eq!(connections.idle_time, Duration::from_secs(4));
    }
}
