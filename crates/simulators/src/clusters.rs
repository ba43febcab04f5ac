//! The clusters of the landscape behind one TLS port: the garden, the control plane's own, the runtimes.
//!
//! Each has the layers that every simulated system has, trouble and the ledger, under the names
//! `gardener`, `control-plane` and `runtimes`. What a reader would get wrong: the controllers that make
//! the clusters live are clients of the same API, on the same port; only their calls pass both layers by.

mod leads;
mod marks;
mod object_path;
pub(crate) mod own;
mod reach;
mod rest;
mod systems;
mod watched;
mod wipe;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use base::Clock;
use cluster::{Catalog, Server, Status, Where};
use futures::{FutureExt, future::BoxFuture};
use kube::Client;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{
    control_plane, garden,
    landscape::Landscape,
    lifecycle_manager,
    pace::Pace,
    runtime::{self, Actor, Controllers, Doors, Wakes},
    store,
};
use marks::Marks;
use object_path::{CONTROL_PLANE, GARDEN};
use own::Password;
use reach::{OutageReason, Reachability};
use watched::Layers;

pub(crate) use leads::{Leads, Visits, open_elsewhere};
pub use own::ClusterAccessError;
pub use rest::RuntimeAccess;

/// The control plane's namespace in its own cluster.
const SYSTEM_NAMESPACE: &str = "kcp-system";
/// The administrator of the clusters.
const ADMINISTRATOR: &str = "kcp-admin";

/// How the clusters are furnished, and how long things take in them.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The garden.
    pub garden: garden::Settings,
    /// The runtimes.
    pub runtimes: runtime::Settings,
    /// The Lifecycle Manager.
    pub lifecycle_manager: lifecycle_manager::Settings,
}

/// Clusters that do not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server does not start.
    #[error("the simulated clusters do not start")]
    Server(#[from] cluster::Error),
    /// Which runtimes can be reached cannot be read.
    #[error("which runtimes can be reached cannot be read")]
    Store(#[from] store::Error),
    /// A cluster cannot be made.
    #[error("a cluster cannot be made")]
    Cluster(#[from] Status),
    /// A cluster cannot be spoken to.
    #[error("a cluster cannot be spoken to")]
    Unreached(#[from] ClusterAccessError),
    /// The garden cannot be furnished.
    #[error("the garden cannot be furnished")]
    Garden(#[from] garden::Error),
}

/// The context of controllers and systems.
struct ClusterContext {
    server: Server,
    password: Password,
    reach: Arc<Reachability>,
    wakes: Wakes,
    garden: garden::Settings,
    lifecycle_manager: lifecycle_manager::Settings,
    clock: Clock,
    pace: Pace,
}

/// The running clusters.
pub struct Clusters {
    known: Arc<ClusterContext>,
    controllers: Controllers,
    gardener: Mutex<Option<garden::Controller>>,
    cleaning: Mutex<Option<garden::Cleaning>>,
    lifecycle_manager: Mutex<Option<lifecycle_manager::Controller>>,
}

impl Clusters {
    /// Opens the clusters that are kept in `folder`, or begins there, and serves them on `listener` as
    /// part of the landscape: with its ledger, its trouble, its clock and its speed.
    pub async fn start(
        landscape: &Landscape,
        settings: Settings,
        folder: &Path,
        listener: TcpListener,
    ) -> Result<Self, Error> {
        let (clock, pace) = (landscape.clock().clone(), landscape.pace().clone());
        let (wakes, woken) = Wakes::new();
        let catalog = garden::catalog(Catalog::default(), &settings.garden);
        let catalog = lifecycle_manager::catalog(catalog, CONTROL_PLANE);
        let catalog = runtime::catalog(catalog, &[GARDEN, CONTROL_PLANE], &wakes);
        let (not, namespace) = ([GARDEN, CONTROL_PLANE], settings.garden.namespace());
        let catalog = garden::users::add(catalog, &not, namespace, landscape.issuer().clone());
        let runtimes = Where::Except(vec![GARDEN.to_owned(), CONTROL_PLANE.to_owned()]);
        let catalog = catalog.version(runtimes, garden::version_of_runtime);
        let (password, marks) = (Password::new(), Arc::new(Marks::default()));
        std::fs::create_dir_all(folder)
            .map_err(|source| store::Error::File { path: folder.to_owned(), source })?;
        let reach = Arc::new(Reachability::open(&folder.join("reach.log"))?);
        let layers = Layers {
            password: password.clone(),
            marks: marks.clone(),
            reach: reach.clone(),
            ledger: landscape.ledger().clone(),
            troubles: landscape.troubles().clone(),
            clock: clock.clone(),
        };
        let server = serve(folder, &clock, catalog, listener, layers).await?;
        let _ = marks.server.set(server.clone());
        let known = Arc::new(ClusterContext {
            server,
            password,
            reach,
            wakes: wakes.clone(),
            garden: settings.garden.clone(),
            lifecycle_manager: settings.lifecycle_manager.clone(),
            clock: clock.clone(),
            pace: pace.clone(),
        });
        known.make().await?;
        let doors: Arc<dyn Doors> = known.clone();
        let runtimes = settings.runtimes;
        let controllers =
            Controllers::start(doors, (wakes, woken), runtimes, clock.clone(), pace.clone());
        let client = known.client(GARDEN).await?;
        let cleaning =
            garden::Cleaning::start(&client, &settings.garden, clock.clone(), pace.clone());
        let gardener = garden::Controller::start(
            client,
            known.clone(),
            settings.garden,
            clock.clone(),
            pace.clone(),
        );
        let client = known.client(CONTROL_PLANE).await?;
        let modules = lifecycle_manager::Controller::start_visiting(
            client,
            known.clone(),
            settings.lifecycle_manager,
            clock,
            pace,
        );
        known.wake();
        landscape.attach(systems::all(&known));
        landscape.open_runtimes(known.clone());
        let (gardener, modules) = (Mutex::new(Some(gardener)), Mutex::new(Some(modules)));
        let cleaning = Mutex::new(cleaning);
        Ok(Self { known, controllers, gardener, cleaning, lifecycle_manager: modules })
    }

    /// The server behind all of them.
    pub fn server(&self) -> &Server {
        &self.known.server
    }

    /// A kubeconfig for the administrator of one cluster.
    pub fn kubeconfig(&self, cluster: &str) -> Result<String, Status> {
        self.known.server.kubeconfig(cluster, ADMINISTRATOR)
    }

    /// A kubeconfig for the garden.
    pub fn garden_kubeconfig(&self) -> String {
        self.kubeconfig(GARDEN).expect("the garden is there from the start")
    }

    /// A kubeconfig for the control plane's own cluster.
    pub fn control_plane_kubeconfig(&self) -> String {
        self.kubeconfig(CONTROL_PLANE).expect("the control plane's cluster is there from the start")
    }

    /// Makes a runtime without a Shoot, unless it is there.
    pub fn create_runtime(&self, name: &str) -> Result<(), String> {
        garden::Runtimes::create(&*self.known, name)
    }

    /// The controllers in the runtimes.
    pub fn controllers(&self) -> &Controllers {
        &self.controllers
    }

    /// Tells whether something is still going on.
    pub fn rest(&self) -> RuntimeAccess {
        RuntimeAccess(self.known.clone())
    }

    /// Stops the controllers wherever they are, ends watches and requests, closes the port.
    pub async fn stop(&self) {
        let gardener = self.gardener.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(gardener) = gardener {
            gardener.stop().await;
        }
        let cleaning = self.cleaning.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(cleaning) = cleaning {
            cleaning.stop().await;
        }
        let modules = self.lifecycle_manager.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(modules) = modules {
            modules.stop().await;
        }
        self.controllers.stop().await;
        self.known.server.clone().stop().await;
    }
}

async fn serve(
    folder: &Path,
    clock: &Clock,
    catalog: Catalog,
    listener: TcpListener,
    layers: Layers,
) -> Result<Server, cluster::Error> {
    let settings = cluster::Settings::new(folder);
    let wrap = |routes| layers.around(routes);
    Server::start(settings, clock.clone(), catalog, listener, wrap).await
}

impl ClusterContext {
    /// Creates the objects that must exist first.
    async fn make(&self) -> Result<(), Error> {
        self.server.create_cluster(GARDEN)?;
        self.server.create_cluster(CONTROL_PLANE)?;
        let namespace = serde_json::json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM_NAMESPACE},
        });
        self.server.apply(CONTROL_PLANE, own::USER, &namespace)?;
        control_plane::furnish(&self.server, CONTROL_PLANE, SYSTEM_NAMESPACE)?;
        self.furnish_control_plane()?;
        Ok(garden::furnish(&self.client(GARDEN).await?, &self.garden).await?)
    }

    /// Creates the objects that operators put into the control plane's cluster.
    fn furnish_control_plane(&self) -> Result<(), Status> {
        lifecycle_manager::furnish(&self.server, CONTROL_PLANE, SYSTEM_NAMESPACE)
    }

    async fn client(&self, cluster: &str) -> Result<Client, ClusterAccessError> {
        self.password.client(&self.server, cluster).await
    }

    /// The clusters of Shoots.
    fn runtimes(&self) -> Vec<String> {
        let mut all = self.server.clusters();
        all.retain(|name| name != GARDEN && name != CONTROL_PLANE);
        all
    }

    /// Wakes the controllers of those runtimes that have something for them.
    fn wake(&self) {
        for runtime in self.runtimes() {
            let has = |resource: &str| !self.server.list(&runtime, resource).is_empty();
            if has(runtime::INSTALLATIONS) {
                self.wakes.wake(&runtime, Actor::Installer);
            }
            if has(runtime::CONNECTIONS) || has("secrets") {
                self.wakes.wake(&runtime, Actor::Agent);
            }
            if has("secrets") || has(runtime::BINDINGS) || has(runtime::INSTANCES) {
                self.wakes.wake(&runtime, Actor::BtpOperator);
            }
        }
    }

    fn is_runtime(&self, name: &str) -> bool {
        self.runtimes().iter().any(|runtime| runtime == name)
    }
}

impl garden::Runtimes for ClusterContext {
    fn create(&self, cluster: &str) -> Result<(), String> {
        if cluster == GARDEN || cluster == CONTROL_PLANE {
            return Err(format!("{cluster} is not a name for a runtime"));
        }
        self.server.create_cluster(cluster).map(drop).map_err(|status| status.to_string())
    }

    fn remove(&self, cluster: &str) -> Result<(), String> {
        if cluster == GARDEN || cluster == CONTROL_PLANE {
            return Err(format!("{cluster} is not a runtime"));
        }
        self.server.remove_cluster(cluster).map_err(|status| status.to_string())?;
        self.reach.forget(cluster).map_err(|error| error.to_string())
    }

    fn set_reachable(&self, cluster: &str, reachable: bool) {
        if let Err(error) = self.reach.set(cluster, OutageReason::Hibernated, reachable) {
            tracing::error!(%error, cluster, "whether a runtime can be reached cannot be kept");
        }
    }

    fn set_nodes(&self, cluster: &str, nodes: &[Value]) -> Result<(), String> {
        // Nothing to do where there is no cluster: it is made later, or was removed.
        if !self.is_runtime(cluster) {
            return Ok(());
        }
        let wanted: Vec<&Value> = nodes.iter().map(|node| &node["metadata"]["name"]).collect();
        for node in nodes {
            let applied = self.server.apply_with_status(cluster, own::USER, node);
            applied.map_err(|status| status.to_string())?;
        }
        for old in self.server.list(cluster, "nodes") {
            let name = &old["metadata"]["name"];
            if !wanted.contains(&name) {
                let removed =
                    self.server.remove(cluster, "nodes", "", name.as_str().unwrap_or_default());
                removed.map_err(|status| status.to_string())?;
            }
        }
        Ok(())
    }

    fn set_info(&self, cluster: &str, info: &Value) -> Result<(), String> {
        if !self.is_runtime(cluster) {
            return Ok(());
        }
        let metadata = serde_json::json!({"name": garden::INFO, "namespace": "kube-system"});
        let object = serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": info,
        });
        let applied = self.server.apply(cluster, own::USER, &object);
        applied.map(drop).map_err(|status| status.to_string())
    }

    fn kubeconfig(&self, cluster: &str) -> Option<String> {
        self.server.kubeconfig(cluster, ADMINISTRATOR).ok()
    }
}

impl Doors for ClusterContext {
    fn open<'a>(&'a self, runtime: &'a str) -> BoxFuture<'a, Option<Client>> {
        async move {
            match self.client(runtime).await {
                Ok(client) => Some(client),
                Err(ClusterAccessError::Missing(_)) => None,
                Err(error) => {
                    tracing::error!(%error, runtime, "a runtime cannot be opened");
                    None
                }
            }
        }
        .boxed()
    }
}
