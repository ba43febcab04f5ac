//! Everything on this machine: the contract of `kcp up`.
//!
//! The order matters. The folder is locked before anything in it is read; the ports are opened before
//! anything is started; the connection file appears when all of it answers, and not before.

#[cfg(test)]
pub(crate) mod access_tests;
#[cfg(test)]
mod activity_tests;
mod alone;
#[cfg(test)]
mod audited_tests;
mod broker;
#[cfg(test)]
mod chores_tests;
mod connection;
#[cfg(test)]
pub(crate) mod console_tests;
#[cfg(test)]
mod documents_tests;
mod files;
mod folder;
mod greeting;
mod landscape;
#[cfg(test)]
mod operators_tests;
mod provisioner;
#[cfg(test)]
mod tenants_tests;
#[cfg(test)]
pub(crate) mod testing;

use std::{io::Write as _, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use api::router::shielded;
use base::Clock;
use engine::Engine;
use secrecy::SecretString;
use simulators::{clusters::Clusters, landscape::Landscape};
use store::EngineStore;

use crate::{
    Settings, Speed,
    access::Doors,
    broker::Service as Broker,
    patience::Patience,
    provisioner::Service as Provisioning,
    serving::{Acceptance, Serving, listen},
    settings::provisioner::ProvisionerSettings,
};
use folder::Folder;
use greeting::Greeting;

pub use alone::{LandscapeOptions, run as run_landscape};
pub use connection::Connection;
pub use landscape::definitions;
pub use simulators::garden::Version as GardenerVersion;

/// The first port of a new folder, unless another one is named.
pub const PORT: u16 = 8080;
/// How long requests may go on after the order to stop.
const GRACE: Duration = Duration::from_secs(2);
/// For how long operators get access to a runtime, unless the settings say otherwise.
const OPERATOR_ACCESS: Duration = Duration::from_hours(8);
/// How long the engine may take to get its first lease.
const START: Duration = Duration::from_secs(30);

/// What the simulated garden plays.
#[derive(Debug, Clone, Copy)]
pub struct GardenOptions {
    /// Which Gardener it is.
    pub version: GardenerVersion,
    /// Whether it has the webhooks of the providers' extensions.
    pub webhooks: bool,
}

impl Default for GardenOptions {
    fn default() -> Self {
        Self { version: GardenerVersion::default(), webhooks: true }
    }
}

/// Options of `kcp up`.
#[derive(Debug)]
pub struct Options {
    /// The first of its ports; by default that of the folder's last start, or [`PORT`].
    pub port: Option<u16>,
    /// Where it keeps everything.
    pub data: PathBuf,
    /// A PostgreSQL to use instead of the embedded database.
    pub database: Option<SecretString>,
    /// How fast the simulated world is.
    pub speed: Speed,
    /// What the simulated garden plays.
    pub garden: GardenOptions,
    /// Everything else.
    pub settings: Settings,
    /// Everything else of the provisioner.
    pub provisioner: ProvisionerSettings,
}

/// A running control plane.
pub struct Up {
    /// How to reach it.
    pub connection: Connection,
    /// The first port of the folder's last start, where it was another one.
    former_port: Option<u16>,
    folder: Folder,
    clock: Clock,
    broker: Broker,
    provisioner: Provisioning,
    clusters: Clusters,
    landscape: Arc<Landscape>,
    serving: Serving,
    speed: Speed,
    drain: Duration,
}

/// Runs it until it is asked to stop.
pub async fn run(options: Options) -> anyhow::Result<()> {
    let up = Up::start(options).await?;
    greeting::print(&Greeting {
        connection: &up.connection,
        folder: up.folder.path(),
        speed: up.speed,
        unfinished: up.broker.unfinished,
        former_port: up.former_port,
    });
    crate::shutdown::requested().await?;
    // Not `eprintln!`, which panics when its line cannot be written.
    let _ = writeln!(std::io::stderr(), "stopping; once more stops at once");
    tokio::select! {
        () = up.stop() => Ok(()),
        again = crate::shutdown::requested() => {
            again?;
            anyhow::bail!("stopped at once; what was running is taken up at the next start")
        }
    }
}

impl Up {
    /// Starts everything; comes back when it serves.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        // Boxed, because the settings in it are large.
        Box::pin(Self::begin(options)).await
    }

    async fn begin(options: Options) -> anyhow::Result<Self> {
        let Options { port, data, database, speed, garden, mut settings, provisioner } = options;
        // Clusters that are brought along stand on this machine too.
        settings.catalog.customer_networks.extend(["127.0.0.0/8", "::1/128"].map(str::to_owned));
        settings.bindings.enabled.get_or_insert(true);
        settings.bindings.operators.get_or_insert(OPERATOR_ACCESS);
        settings.catalog.plan_changes.get_or_insert(true);
        Patience::of(&settings).check(&provisioner)?;
        let folder = Folder::open(&data)?;
        let former_port = folder.port();
        let port = port.or(former_port).unwrap_or(PORT);
        let last = port.checked_add(3).context("--port leaves no room for three more ports")?;
        let credentials = folder.credentials()?;
        let broker_port = listen(port, "the broker").await?;
        let provisioner_port = listen(port + 1, "the provisioner").await?;
        let landscape_port = listen(last - 1, "the landscape").await?;
        let clusters_port = listen(last, "the simulated clusters").await?;
        let clock = Clock::running();
        let landscape = landscape::landscape(
            &folder,
            &credentials,
            &settings,
            landscape_port.local_addr()?,
            speed,
            &clock,
        )?;
        let token = landscape::token(landscape.issuer(), &credentials)?;
        let connection = Connection::new(port, token, &credentials);
        landscape::open_runtimes(&mut settings.catalog, &connection.landscape)?;
        let mut serving = Serving::new(&clock);
        let routes = landscape::router(&landscape);
        serving.add("the landscape", landscape_port, routes, landscape::ACCEPTANCE);
        let clusters = landscape::clusters(&folder, &landscape, garden, clusters_port).await?;
        // The landscape's issuer, and all that the settings name.
        let mut doors = settings.access.doors();
        let hosts = settings.transport.hosts();
        // The two services have the same issuers, and peers of their own.
        let mut inner = Doors { peers: provisioner.access.peers.clone(), ..doors.clone() };
        for (service, doors) in [("broker", &mut doors), ("provisioner", &mut inner)] {
            for exception in doors.exceptions() {
                tracing::warn!("{service}: {exception}, because the settings say so");
            }
            doors.issuers.push(landscape::trusted(&connection.landscape));
        }
        let (verifier, inner) = (doors.verifier(&hosts, &clock)?, inner.verifier(&hosts, &clock)?);
        let runtimes = provisioner::start(
            &folder,
            &credentials,
            &connection,
            &clusters,
            (database.clone(), speed),
            &provisioner,
            &clock,
        )
        .await?;
        let routes = runtimes.router(&inner, provisioner.requests.limits()?);
        let acceptance = Acceptance::plain(provisioner.connections.limits());
        serving.add("the provisioner", provisioner_port, routes, acceptance);
        let systems = files::write(&folder, &credentials, &connection, speed)?;
        let broker = Box::pin(broker::start(
            &folder,
            &credentials,
            &systems,
            (database, speed),
            &settings,
            &clock,
        ))
        .await?;
        let routes = broker::routes(&broker, &connection, &credentials, &landscape, &verifier);
        let routes = shielded(routes, settings.requests.limits()?);
        let acceptance = Acceptance::plain(settings.connections.limits());
        serving.add("the broker", broker_port, routes, acceptance);

        wait_for_lease(&runtimes.engine).await?;
        wait_for_lease(&broker.engine).await?;
        folder.keep_port(port)?;
        connection.write(&folder)?;
        let former_port = former_port.filter(|former| *former != port);
        let drain = settings.operations.times().drain;
        let provisioner = runtimes;
        Ok(Self {
            connection,
            former_port,
            folder,
            clock,
            broker,
            provisioner,
            clusters,
            landscape,
            serving,
            speed,
            drain,
        })
    }

    /// Finishes what runs, hands back the rest, closes everything.
    pub async fn stop(self) {
        Connection::remove(&self.folder);
        self.provisioner.end_waits();
        let grace = GRACE.min(self.drain);
        let ((), (), ()) = tokio::join!(
            self.serving.stop(grace),
            self.broker.stop(self.drain),
            self.provisioner.stop(self.drain),
        );
        // Last, because steps that are being finished still call them.
        landscape::stop(&self.clusters, &self.clock, grace).await;
        drop(self.landscape);
    }
}

async fn wait_for_lease(engine: &Engine<EngineStore>) -> anyhow::Result<()> {
    let mut alive = engine.alive();
    let lease = alive.wait_for(Option::is_some);
    tokio::time::timeout(START, lease).await.context("the engine gets no lease")??;
    Ok(())
}
