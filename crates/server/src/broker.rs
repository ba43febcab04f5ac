//! The environment broker as a service: its database, its engine, what it reaches, what it answers.

pub(crate) mod from_settings;
mod job_clients;

use std::{sync::Arc, time::Duration};

use anyhow::{Context, ensure};
use api::{
    Credentials, RequireScope, Verifier,
    origins::Origins,
    osb,
    router::{
        self, answers as answer_routes, expiry, fleet, history, jobs as job_routes, kubeconfigs,
        leftovers, platforms, runtimes, shielded,
    },
    scope,
};
use axum::{Extension, Router};
use base::Clock;
use broker::{
    accounts::PooledAccounts,
    answers::Answers,
    bindings::{Bindings, RuntimeReach},
    chores::maintenance::{self, MaintenanceEnding, Times},
    following::Follower,
    instances::{Broker, Parts},
    jobs::{self, Jobs},
    operations::{
        self as steps, Env, ProvisioningLimits, deprovisioning, orchestration, provisioning,
        update, upgrade_cluster, upgrade_kyma,
    },
    orchestrations::{self, Orchestrations},
};
use clients::{Component, provisioner::Provisioner};
use console::{Console, Landscape, Service as Shown};
use engine::{Builder, Engine};
use store::{BrokerStore, EngineStore, Set, operations::Operations};
use tokio::net::TcpListener;

use crate::{
    Settings, Speed, auditing,
    chores::Chores,
    gates::Gates,
    keys,
    metrics::{self, Metrics},
    patience::Patience,
    readiness::EngineReadiness,
    service_context::ServiceContext,
    serving::Serving,
    settings::OperationSettings,
    shutdown,
    sign_in::{self, SignIn},
    systems::{SystemClients, SystemSettings},
};

/// How long requests may go on after the order to stop.
const GRACE: Duration = Duration::from_secs(5);

/// A broker that works.
pub(crate) struct Service {
    pub(crate) engine: Engine<EngineStore>,
    /// The provisioner that it reaches.
    provisioner: Provisioner,
    broker: Broker,
    bindings: Bindings,
    orchestrations: Orchestrations,
    jobs: Jobs,
    answers: Answers,
    pub(crate) chores: Chores,
    /// Wakes the steps that wait for the provisioner.
    follower: Option<Follower>,
    metrics: Arc<Metrics>,
    /// How many operations an earlier process had not finished.
    #[cfg_attr(not(feature = "landscape"), expect(dead_code, reason = "only `kcp up` uses it"))]
    pub(crate) unfinished: u64,
    /// Whether platforms need not say `accepts_incomplete`.
    assume_async: bool,
    /// The origins whose pages may fetch kubeconfigs.
    origins: Origins,
}

impl Service {
    /// Opens the database and begins to work; `systems` are those that it reaches.
    pub(crate) async fn start(
        settings: &Settings,
        systems: &SystemSettings,
        place: ServiceContext,
        clock: &Clock,
    ) -> anyhow::Result<Self> {
        let (catalog, offer) = from_settings::catalog(settings)?;
        let origins = settings.bindings.origins()?;
        settings.jobs.check(&catalog, &settings.catalog.expiring_plans)?;
        let limits = from_settings::limits(settings, systems)?;
        let metrics = Arc::new(Metrics::default());
        let gates = Gates::observed(clock, settings.transport.hosts(), metrics.calls());
        let reached =
            SystemClients::open(systems, &gates).await.context("the settings are not valid")?;
        let engine = place.store("broker", settings.database.tables(), Set::Broker).await?;
        let store = BrokerStore::new(engine, clock.clone());
        let operations = store.engine().clone();
        let (env, cleaned) =
            from_settings::env(settings, reached, catalog.clone(), &store, &gates)?;
        let env = Arc::new(env);
        let pool = env.gardener.pool(env.settings.account_bindings);
        let accounts = PooledAccounts::new(pool, clock.clone());
        let engine_settings = engine_settings(&settings.operations, place.replica, place.speed);
        let engine = Engine::builder(Arc::new(operations.clone()), clock.clone(), engine_settings);
        let (provisioner, follower) = (env.provisioner.clone(), env.follower.clone());
        let runtimes = RuntimeReach {
            provisioner: provisioner.clone(),
            clusters: gates.clusters(Component::RUNTIME, from_settings::CLIENTS),
        };
        let ending = MaintenanceEnding::new(&env, clock.clone(), Times::default());
        let parts = |shapes, accounts| Parts {
            accounts,
            store: store.clone(),
            operations: operations.clone(),
            shapes,
            catalog: catalog.clone(),
            offer: offer.clone(),
            settings: from_settings::answers(settings),
            clock: clock.clone(),
        };
        // The driver of orchestrations prepares upgrades: it needs neither plans nor accounts.
        let driving = Broker::new(parts(Vec::new(), None));
        let driving = Arc::new(from_settings::orchestrations(driving, &env, &settings.runtimes));
        let engine = serve(engine, &limits, &env, settings)?;
        let engine =
            engine.serve(orchestration::plan(steps::Systems::of(&env)), driving.clone())?;
        let broker = Broker::new(parts(engine.shapes(), Some(Arc::new(accounts))));
        let orchestrations = Orchestrations::new(driving);
        let bindings = Bindings::new(broker.clone(), runtimes, settings.bindings.time);
        let job_env = Arc::new(cleaned.env(settings, &env, broker.clone(), bindings.clone()));
        let unfinished = unfinished(&operations).await?;
        let engine = engine.serve(jobs::plan(), job_env.clone())?.start();
        let jobs = Jobs::new(job_env.clone());
        let answers = Answers::new(Operations::new(engine.clone()), jobs.clone(), &job_env);
        let mut chores = Chores::default();
        let (audit, keep) = (Operations::new(engine.clone()).audit(), settings.operations.times());
        chores.start("audit", auditing::keep(audit, clock.clone(), keep.keep_audit));
        chores.start("maintenance", maintenance::keep(ending));
        let waking = orchestrations::wake_drivers(orchestrations.clone(), engine.events());
        chores.start("orchestrations", waking);
        chores.start("jobs", jobs::keep(jobs.clone()));
        chores.start("answers", answers.clone().keep());
        let assume_async = settings.answers.assume_async;
        Ok(Self {
            engine,
            provisioner,
            broker,
            bindings,
            orchestrations,
            jobs,
            answers,
            chores,
            follower,
            metrics,
            unfinished,
            assume_async,
            origins,
        })
    }

    /// Its routes, without the layers around them.
    pub(crate) fn routes(&self, verifier: &Arc<Verifier>, known: Vec<Credentials>) -> Router {
        let counted = self.metrics.clone();
        tokio::spawn(counted.clone().count(self.engine.events()));
        let (jobs, answers) = (self.jobs.clone(), self.answers.clone());
        let metrics = RequireScope::of_operators(verifier.clone(), scope::METRICS_READ)
            .around(metrics::of_broker(counted, self.engine.clone(), jobs, answers));
        let orders = platforms(osb::OsbParts {
            broker: self.broker.clone(),
            bindings: self.bindings.clone(),
            verifier: verifier.clone(),
            platforms: known,
            assume_async: self.assume_async,
        });
        router::broker(router::BrokerParts {
            operations: self.operations(),
            readiness: Arc::new(EngineReadiness(self.engine.clone())),
            verifier: verifier.clone(),
        })
        .merge(history(self.operations(), self.broker.clone(), verifier.clone()))
        .merge(metrics)
        .merge(orders)
        .merge(leftovers(self.broker.clone(), verifier.clone()))
        .merge(expiry(self.broker.clone(), verifier.clone()))
        .merge(fleet(self.orchestrations.clone(), verifier.clone()))
        .merge(job_routes(self.jobs.clone(), verifier.clone()))
        .merge(answer_routes(self.answers.clone(), verifier.clone()))
        .merge(runtimes(api::runtimes::RuntimesParts {
            broker: self.broker.clone(),
            verifier: verifier.clone(),
        }))
        .merge(kubeconfigs(api::kubeconfig::KubeconfigParts {
            bindings: self.bindings.clone(),
            verifier: verifier.clone(),
            origins: self.origins.clone(),
        }))
        .layer(Extension(self.operations().audit()))
    }

    /// Its part of the console.
    pub(crate) fn console(&self, landscape: Option<Landscape>, services: Vec<Shown>) -> Console {
        Console::new(console::Parts {
            operations: self.operations(),
            broker: self.broker.clone(),
            bindings: self.bindings.clone(),
            orchestrations: self.orchestrations.clone(),
            jobs: self.jobs.clone(),
            answers: self.answers.clone(),
            services,
            landscape,
        })
    }

    /// The operators' view of its operations.
    pub(crate) fn operations(&self) -> Operations {
        Operations::new(self.engine.clone())
    }

    /// Finishes what runs, hands back the rest, closes everything.
    pub(crate) async fn stop(mut self, drain: Duration) {
        self.chores.stop();
        if let Some(follower) = &self.follower {
            follower.stop();
        }
        self.engine.stop(drain).await;
        self.engine.storage().database().close().await;
    }
}

/// The plans of orders, changes, upgrades and removals: today's, or the legacy ones.
fn serve(
    engine: Builder<EngineStore>,
    limits: &ProvisioningLimits,
    env: &Arc<Env>,
    settings: &Settings,
) -> anyhow::Result<Builder<EngineStore>> {
    let systems = steps::Systems::of(env);
    let removal = from_settings::removal_limits(settings);
    let (making, removing) = if settings.runtimes.legacy {
        let making = provisioning::legacy::plan(limits, systems);
        (making, deprovisioning::legacy::plan(&removal, systems))
    } else {
        (provisioning::plan(limits, systems), deprovisioning::plan(&removal, systems))
    };
    let changing = update::plan(&from_settings::update_limits(settings), systems);
    let engine = engine.serve(making, env.clone())?.serve(removing, env.clone())?;
    let engine = engine.serve(changing, env.clone())?;
    let kyma = upgrade_kyma::plan(&from_settings::kyma_limits(settings), systems);
    let cluster = upgrade_cluster::plan(&from_settings::cluster_limits(settings), systems);
    Ok(engine.serve(kyma, env.clone())?.serve(cluster, env.clone())?)
}

/// How the engine works.
fn engine_settings(
    operations: &OperationSettings,
    replica: Option<String>,
    speed: Speed,
) -> engine::Settings {
    let OperationSettings {
        workers,
        lease,
        keep_journal,
        // The pace is part of the speed; the others are for the plans, the audit, and the end of the service.
        keep_audit: _,
        pace: _,
        limit: _,
        kyma_upgrade_limit: _,
        cluster_upgrade_limit: _,
        removal_patience: _,
        drain: _,
    } = operations;
    engine::Settings {
        replica,
        lease: *lease,
        workers: workers.get().into(),
        pace: speed.factor(),
        keep_journal: *keep_journal,
        ..engine::Settings::default()
    }
}

/// How many operations there are to carry on with. Runs of jobs are no order of anybody.
async fn unfinished(operations: &EngineStore) -> anyhow::Result<u64> {
    let counted = operations.count().await.context("counting unfinished operations")?;
    let ordered = counted.iter().filter(|one| one.kind != jobs::KIND);
    Ok(ordered.map(|one| one.operations).sum())
}

/// Checks everything that a start would refuse, as far as that is possible without outside systems.
pub(crate) fn check(settings: &Settings) -> anyhow::Result<()> {
    let (catalog, _) = from_settings::catalog(settings)?;
    settings.jobs.check(&catalog, &settings.catalog.expiring_plans)?;
    from_settings::limits(settings, &settings.systems)?;
    from_settings::platforms(&settings.access)?;
    sign_in::check(settings)
}

/// Runs a broker until it is asked to stop: `kcp broker`.
pub async fn run(settings: Settings) -> anyhow::Result<()> {
    let clock = Clock::running();
    let access = &settings.access;
    let known = from_settings::platforms(access)?;
    ensure!(
        !(known.is_empty() && access.doors().is_empty()),
        "no way to authenticate: set access.issuers, or access.platform_user and access.platform_password"
    );
    let transport = &settings.transport;
    let verifier = access.doors().verifier(&transport.hosts(), &clock)?;
    let acceptance = transport.acceptance(settings.listen, settings.connections.limits())?;
    let limits = settings.requests.limits()?;
    for exception in settings.exceptions()? {
        tracing::warn!("{exception}, because the settings say so");
    }
    let sealer = keys::read(&settings.database.sealing_keys)?;
    let sign_in = SignIn::new(&settings, &verifier, sealer.clone(), &clock)?;
    let url = settings.database.url.clone();
    let speed = Speed::Times(settings.operations.pace);
    let place = ServiceContext { url, sealer, replica: None, speed };
    let listener = TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("{} cannot be listened on", settings.listen))?;
    let service = Service::start(&settings, &settings.systems, place, &clock).await?;
    let mut routes = service.routes(&verifier, known);
    if let Some(sign_in) = sign_in {
        routes = routes.merge(sign_in.around(service.console(None, Vec::new())));
    }
    let mut serving = Serving::new(&clock);
    let address = listener.local_addr()?;
    serving.add("the broker", listener, shielded(routes, limits), acceptance);
    tracing::info!(%address, "the broker answers");
    let comparing =
        tokio::spawn(Patience::of(&settings).tell(service.provisioner.clone(), clock.clone()));
    shutdown::requested().await?;
    comparing.abort();
    let drain = settings.operations.times().drain;
    serving.stop(GRACE.min(drain)).await;
    service.stop(drain).await;
    Ok(())
}

#[cfg(test)]
mod effects_tests;
#[cfg(test)]
mod tests;
