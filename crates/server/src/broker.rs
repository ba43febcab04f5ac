//! The environment broker as a service: its database, its engine, what it reaches, what it answers.

pub(crate) mod outside;

use std::{sync::Arc, time::Duration};

use anyhow::{Context, ensure};
use api::{
    Credentials, Limits as RequestLimits, RequireScope, Verifier, osb,
    router::{self, leftovers, platforms, runtimes, shielded},
    scope,
};
use axum::Router;
use base::Clock;
use broker::{
    accounts::PooledAccounts,
    instances::{Broker, Parts},
    operations::{
        Env, Limits, demonstration,
        deprovisioning::{self, Reach},
        provisioning::{self, legacy::LegacySwitches},
    },
};
use engine::{Builder, Engine};
use store::{BrokerStore, EngineStore, Sealer, Set};
use tokio::net::TcpListener;

use crate::{
    Settings,
    access::verifier,
    demonstration::surroundings,
    metrics::{self, Metrics},
    operations::Stored,
    place::Place,
    readiness::Working,
    serving::Serving,
    settings::systems::SystemSettings,
    shutdown,
    systems::Systems,
    up::Speed,
};

/// How long requests may go on after the order to stop.
const GRACE: Duration = Duration::from_secs(5);

/// A broker that works.
pub(crate) struct Service {
    pub(crate) engine: Engine<EngineStore>,
    broker: Broker,
}

impl Service {
    /// Opens the database and begins to work; `systems` are those that it reaches.
    pub(crate) async fn start(
        settings: &Settings,
        systems: &SystemSettings,
        place: Place,
        clock: &Clock,
    ) -> anyhow::Result<Self> {
        let (catalog, offer) = outside::catalog(&settings.catalog)?;
        let limits = outside::limits(settings)?;
        let required = systems.edp.required.unwrap_or_default();
        let reached = Systems::open(systems, clock).await.context("the settings are not valid")?;
        let database = &settings.database;
        let plain = place
            .store("broker", database.connections.get(), &database.schema, Set::Broker)
            .await?;
        let store = BrokerStore::new(plain.clone(), place.sealer.clone(), clock.clone());
        let operations = plain.with_changes(store.changes());
        let env = outside::env(settings, required, reached, catalog.clone(), &store, clock)?;
        let env = Arc::new(env);
        let pool = env.gardener.pool(env.settings.account_bindings);
        let accounts = PooledAccounts::new(pool, clock.clone());
        let reach = Arc::new(Reach {
            env: env.clone(),
            store: store.clone(),
            operations: operations.clone(),
        });
        let engine_settings = engine::Settings {
            replica: place.replica,
            lease: settings.operations.lease,
            workers: settings.operations.workers.get().into(),
            pace: place.speed.factor(),
            keep_journal: settings.operations.keep_journal,
            ..engine::Settings::default()
        };
        let engine = Engine::builder(Arc::new(operations.clone()), clock.clone(), engine_settings)
            .serve(demonstration::plan(settings.operations.limit), surroundings(place.speed))?;
        let engine = serve(engine, &limits, env, reach, settings)?.start();
        let broker = Broker::new(Parts {
            accounts: Some(Arc::new(accounts)),
            store,
            operations,
            shapes: engine.shapes(),
            catalog,
            offer,
            settings: outside::answers(settings),
            clock: clock.clone(),
        });
        Ok(Self { engine, broker })
    }

    /// What it answers, without the layers around it.
    pub(crate) fn routes(&self, verifier: &Arc<Verifier>, known: Vec<Credentials>) -> Router {
        let counted = Arc::new(Metrics::default());
        tokio::spawn(counted.clone().count(self.engine.events()));
        let metrics = RequireScope::of_operators(verifier.clone(), scope::METRICS_READ)
            .around(metrics::router(counted, self.engine.clone()));
        let orders = platforms(osb::Parts {
            instances: Arc::new(self.broker.clone()),
            verifier: verifier.clone(),
            platforms: known,
        });
        router::broker(router::Broker {
            operations: self.operations(),
            readiness: Arc::new(Working(self.engine.clone())),
            verifier: verifier.clone(),
        })
        .merge(metrics)
        .merge(orders)
        .merge(leftovers(self.broker.clone(), verifier.clone()))
        .merge(runtimes(api::runtimes::Parts {
            broker: self.broker.clone(),
            verifier: verifier.clone(),
        }))
    }

    /// The operators' view of its operations.
    pub(crate) fn operations(&self) -> Arc<Stored> {
        Arc::new(Stored(self.engine.clone()))
    }

    /// Finishes what runs, hands back the rest, closes everything.
    pub(crate) async fn stop(self, drain: Duration) {
        self.engine.stop(drain).await;
        self.engine.storage().database().close().await;
    }
}

/// The plans of orders and removals: today's, or those of the older documents.
fn serve(
    engine: Builder<EngineStore>,
    limits: &Limits,
    env: Arc<Env>,
    reach: Arc<Reach>,
    settings: &Settings,
) -> anyhow::Result<Builder<EngineStore>> {
    let switches = provisioning::Switches::of(&env);
    let systems = deprovisioning::Systems::of(&env);
    let removal = outside::removal_limits(settings);
    let (making, removing) = if settings.runtimes.legacy {
        let older = LegacySwitches::of(&env);
        let making = provisioning::legacy::plan(limits, switches, older);
        (making, deprovisioning::legacy::plan(&removal, systems))
    } else {
        (provisioning::plan(limits, switches), deprovisioning::plan(&removal, systems))
    };
    Ok(engine.serve(making, env)?.serve(removing, reach)?)
}

/// What one request may cost.
pub(crate) fn request_limits(settings: &Settings) -> RequestLimits {
    RequestLimits { body: settings.requests.body.get() as usize, time: settings.requests.time }
}

/// Runs a broker until somebody asks it to stop: `kcp broker`.
pub async fn run(settings: Settings) -> anyhow::Result<()> {
    let clock = Clock::running();
    let sealer = Sealer::from_file_or_create(&settings.database.sealing_keys)
        .context("the keys that seal secrets cannot be read or made")?;
    let url = settings.database.url.clone();
    let speed = Speed::Times(settings.operations.pace);
    let place = Place { url, sealer, replica: None, speed };
    let known = outside::platforms(&settings.access)?;
    ensure!(
        !(known.is_empty() && settings.access.issuers.is_empty()),
        "nobody could enter: name access.issuers, or access.platform_user and access.platform_password"
    );
    let listener = TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("{} cannot be listened on", settings.listen))?;
    let service = Service::start(&settings, &settings.systems, place, &clock).await?;
    let access = &settings.access;
    let verifier = verifier(&access.issuers, &access.audience, &clock)?;
    let routes = service.routes(&verifier, known);
    let mut serving = Serving::default();
    let address = listener.local_addr()?;
    serving.add("the broker", listener, shielded(routes, request_limits(&settings)));
    tracing::info!(%address, "the broker answers");
    shutdown::asked().await?;
    let drain = settings.operations.drain;
    serving.stop(&clock, GRACE.min(drain)).await;
    service.stop(drain).await;
    Ok(())
}
