//! The runtime provisioner as a service: its database, its engine, what it reaches, what it answers.

mod outside;

use std::sync::Arc;

use anyhow::Context;
use api::{
    Limits as RequestLimits, RequireScope, Verifier,
    graphql::QueryLimits,
    router::{ProvisionerParts, calling_off, provisioner, shielded, watching},
    scope,
};
use axum::Router;
use base::Clock;
use engine::Engine;
use provisioner::{
    Parts, Provisioner,
    chores::{abandoned_intents, failed_runtimes, shoot_signals},
    operations::{deprovisioning, hibernation, provisioning, reconnection, upgrade, upgrade_shoot},
};
use store::{EngineStore, ProvisionerStore, Sealer, Set};
use tokio::{net::TcpListener, task::JoinSet};

use crate::{
    access::verifier,
    metrics::{self, Metrics},
    operations::Stored,
    place::Place,
    readiness::Working,
    serving::Serving,
    settings::provisioner::ProvisionerSettings,
    shutdown,
    up::Speed,
};
pub(crate) use outside::Outside;
#[cfg(test)]
pub(crate) use outside::defaults;

/// How long requests may go on after the order to stop.
const GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// A provisioner that works.
pub(crate) struct Service {
    pub(crate) engine: Engine<EngineStore>,
    pub(crate) provisioner: Provisioner,
    chores: JoinSet<()>,
}

impl Service {
    /// Opens the database and begins to work.
    pub(crate) async fn start(
        settings: &ProvisionerSettings,
        place: Place,
        outside: Outside,
        clock: &Clock,
    ) -> anyhow::Result<Self> {
        let limits = settings.limits.checked()?;
        let database = &settings.database;
        let plain = place
            .store("provisioner", database.connections.get(), &database.schema, Set::Provisioner)
            .await?;
        let store = ProvisionerStore::new(plain.clone(), place.sealer, clock.clone());
        let storage = plain.with_changes(store.changes());
        let env = Arc::new(outside.env(settings, store.clone(), clock).await?);
        let engine_settings = engine::Settings {
            replica: place.replica,
            lease: settings.operations.lease,
            workers: settings.operations.workers.get().into(),
            pace: place.speed.factor(),
            keep_journal: settings.operations.keep_journal,
            ..engine::Settings::default()
        };
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
            defaults: outside::defaults(settings),
            clock: clock.clone(),
        });
        let mut chores = JoinSet::new();
        chores.spawn(shoot_signals::follow(env.gardener.clone(), engine.clone()));
        chores.spawn(failed_runtimes::keep(provisioner.clone()));
        chores.spawn(abandoned_intents::keep(provisioner.clone()));
        Ok(Self { engine, provisioner, chores })
    }

    /// What it answers, with the layers around it.
    pub(crate) fn router(
        &self,
        verifier: &Arc<Verifier>,
        settings: &ProvisionerSettings,
    ) -> Router {
        let counted = Arc::new(Metrics::of_provisioner());
        tokio::spawn(counted.clone().count(self.engine.events()));
        let metrics = RequireScope::of_operators(verifier.clone(), scope::METRICS_READ)
            .around(metrics::router(counted, self.engine.clone()));
        let routes = provisioner(ProvisionerParts {
            provisioner: Arc::new(self.provisioner.clone()),
            readiness: Arc::new(Working(self.engine.clone())),
            verifier: verifier.clone(),
            limits: QueryLimits::DEFAULT,
        });
        let limits = RequestLimits {
            body: settings.requests.body.get() as usize,
            time: settings.requests.time,
        };
        let stored = Arc::new(Stored(self.engine.clone()));
        let operations =
            watching(stored.clone(), verifier.clone()).merge(calling_off(stored, verifier.clone()));
        shielded(routes.merge(metrics).merge(operations), limits)
    }

    /// Finishes what runs, hands back the rest, closes everything.
    pub(crate) async fn stop(mut self, drain: std::time::Duration) {
        self.chores.abort_all();
        self.engine.stop(drain).await;
        self.engine.storage().database().close().await;
    }
}

/// Runs a provisioner until somebody asks it to stop: `kcp provisioner`.
pub async fn run(settings: ProvisionerSettings) -> anyhow::Result<()> {
    let clock = Clock::running();
    let sealer = Sealer::from_file_or_create(&settings.database.sealing_keys)
        .context("the keys that seal secrets cannot be read or made")?;
    let speed = Speed::Times(settings.operations.pace);
    let url = settings.database.url.clone();
    let place = Place { url, sealer, replica: None, speed };
    let outside = Outside::configured(&settings).await?;
    let listener = TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("{} cannot be listened on", settings.listen))?;
    let service = Service::start(&settings, place, outside, &clock).await?;
    let access = &settings.access;
    let verifier = verifier(&access.issuers, &access.audience, &clock)?;
    let mut serving = Serving::default();
    let address = listener.local_addr()?;
    serving.add("the provisioner", listener, service.router(&verifier, &settings));
    tracing::info!(%address, "the provisioner answers");
    shutdown::asked().await?;
    let drain = settings.operations.drain;
    serving.stop(&clock, GRACE.min(drain)).await;
    service.stop(drain).await;
    Ok(())
}
