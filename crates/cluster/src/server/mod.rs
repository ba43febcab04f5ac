//! The server: all clusters, their port and their data folder.

mod direct;
mod replay;

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use axum::Router;
use base::Clock;
use jiff::SignedDuration;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    Catalog, Identity, LogError, Status,
    access::{Authority, Kubeconfig, Peer, TlsListener, Tokens, acceptor},
    cluster::Cluster,
    http,
    ids::Ids,
    store::{History, Log, Record, State},
};

/// How a server runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where everything is kept; one server at a time.
    pub data: PathBuf,
    /// Names of the server for clients, besides `127.0.0.1`, `::1` and `localhost`.
    pub names: Vec<String>,
    /// Makes ids repeatable; without it they are random.
    pub seed: Option<u64>,
    /// Whether every write waits for the disk, not only for the operating system.
    pub sync: bool,
    /// How much a cluster remembers for watchers.
    pub history: History,
    /// How large the log may grow, in bytes, before it is replaced by a snapshot; it may also grow as large as the
    /// latest snapshot.
    pub compact_after: u64,
}

impl Settings {
    /// The usual settings for a data folder.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        let (names, seed, sync) = (Vec::new(), None, false);
        let history = History { changes: 10_000, bytes: 4 << 20 };
        Self { data: data.into(), names, seed, sync, history, compact_after: 8 << 20 }
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data folder cannot be used.
    #[error("cannot use the data folder {path}")]
    Folder {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another server uses the data folder.
    #[error("the data folder {0} is in use by another process")]
    InUse(PathBuf),
    /// The log cannot be read.
    #[error("cannot read what was kept")]
    Log(#[source] LogError),
}

/// A running server; clones are the same server.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    address: SocketAddr,
    authority: Authority,
    tokens: Tokens,
    clock: Clock,
    catalog: Arc<Catalog>,
    ids: Ids,
    history: History,
    log: Arc<Log>,
    clusters: RwLock<BTreeMap<String, Arc<Cluster>>>,
    stop: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    /// Held until the server stops.
    lock: Mutex<Option<File>>,
}

impl Server {
    /// Opens the data folder, carries on with what is in it, and serves on `listener`.
    ///
    /// `wrap` may put layers around the routes, for instance to record or disturb requests.
    pub async fn start(
        settings: Settings,
        clock: Clock,
        catalog: Catalog,
        listener: TcpListener,
        wrap: impl FnOnce(Router) -> Router,
    ) -> Result<Self, Error> {
        let folder = |source| Error::Folder { path: settings.data.clone(), source };
        let address = listener.local_addr().map_err(folder)?;
        let opening = {
            let settings = settings.clone();
            tokio::task::spawn_blocking(move || Self::open(&settings, clock, catalog, address))
        };
        let server = opening.await.map_err(|error| folder(io::Error::other(error)))??;
        let acceptor = acceptor(&server.0.authority).map_err(folder)?;
        let stop = server.0.stop.clone();
        let listener = TlsListener::start(listener, acceptor, stop.clone());
        let router = wrap(http::router(server.clone()));
        let service = router.into_make_service_with_connect_info::<Peer>();
        let serving = tokio::spawn({
            let stop = stop.clone().cancelled_owned();
            async move {
                if let Err(error) =
                    axum::serve(listener, service).with_graceful_shutdown(stop).await
                {
                    tracing::error!(%error, "the cluster port is closed");
                }
            }
        });
        let compacting = tokio::spawn(server.clone().compact_when_grown());
        server.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).extend([serving, compacting]);
        Ok(server)
    }

    /// Ends watches and requests and lets go of the data folder. Nothing can be written afterwards.
    pub async fn stop(self) {
        self.0.stop.cancel();
        let tasks: Vec<_> =
            self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        for task in tasks {
            let _ = task.await;
        }
        self.0.log.close();
        drop(self.0.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// The address of a cluster.
    pub fn url(&self, cluster: &str) -> String {
        format!("https://127.0.0.1:{}/clusters/{cluster}", self.0.address.port())
    }

    /// The certificate of the authority that signed the server's, as PEM.
    pub fn certificate_authority(&self) -> &str {
        &self.0.authority.certificate
    }

    /// The names of all clusters.
    pub fn clusters(&self) -> Vec<String> {
        self.0.clusters.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Creates a cluster, unless it is there already; the answer says whether it is new.
    pub fn create_cluster(&self, name: &str) -> Result<bool, Status> {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        if name.is_empty() || name.len() > 253 || !name.chars().all(fine) {
            return Err(Status::bad_request(format!("{name:?} is not a name for a cluster")));
        }
        let mut clusters = self.0.clusters.write().unwrap_or_else(PoisonError::into_inner);
        if clusters.contains_key(name) {
            return Ok(false);
        }
        // A place in the log comes once, so a later cluster of the same name is another one.
        let uid = self.0.ids.uid(&["cluster", name, &self.0.log.position()]);
        let record = Record::Cluster { name: name.to_owned(), uid: uid.clone(), version: 0 };
        self.0.log.append(&record).map_err(|error| Status::not_stored(&error))?;
        let cluster = Arc::new(self.0.cluster(name, self.0.state(name, uid, 0)));
        direct::furnish(&cluster)?;
        clusters.insert(name.to_owned(), cluster);
        Ok(true)
    }

    /// Removes a cluster with everything in it; the answer says whether it was there.
    pub fn remove_cluster(&self, name: &str) -> Result<bool, Status> {
        let mut clusters = self.0.clusters.write().unwrap_or_else(PoisonError::into_inner);
        let Some(cluster) = clusters.get(name).cloned() else { return Ok(false) };
        // Under the cluster's lock: no change of it may follow its removal in the log.
        let state = cluster.state();
        let record = Record::Removed { name: name.to_owned(), uid: cluster.uid.clone() };
        self.0.log.append(&record).map_err(|error| Status::not_stored(&error))?;
        cluster.gone.cancel();
        clusters.remove(name);
        drop(state);
        Ok(true)
    }

    /// A token for a cluster, valid for a while or for ever.
    pub fn token(
        &self,
        cluster: &str,
        who: &Identity,
        valid: Option<SignedDuration>,
    ) -> Result<String, Status> {
        let cluster = self.find(cluster)?;
        let until = valid.map(|valid| self.0.clock.now() + valid);
        Ok(self.0.tokens.issue(&cluster.uid, who, until))
    }

    /// A kubeconfig with a token that does not expire, for an administrator with this name.
    pub fn kubeconfig(&self, cluster: &str, user: &str) -> Result<String, Status> {
        self.kubeconfig_with_token(cluster, cluster, &Identity::admin(user), None)
    }

    /// A kubeconfig with a token; `context` is the name of cluster and context in it.
    pub fn kubeconfig_with_token(
        &self,
        cluster: &str,
        context: &str,
        who: &Identity,
        valid: Option<SignedDuration>,
    ) -> Result<String, Status> {
        let token = self.token(cluster, who, valid)?;
        Ok(self.kubeconfig_named(cluster, context, &who.user, |file| file.with_token(&token)))
    }

    /// A kubeconfig with a client certificate, valid for a while from now.
    pub fn kubeconfig_with_certificate(
        &self,
        cluster: &str,
        context: &str,
        who: &Identity,
        valid: SignedDuration,
    ) -> Result<String, Status> {
        let uid = self.find(cluster)?.uid.clone();
        let now = self.0.clock.now();
        // Clocks of clients and servers are never quite the same.
        let life = (now - SignedDuration::from_mins(1), now + valid);
        let pair = self.0.authority.client(&uid, who, life);
        let pair = pair.map_err(|error| Status::internal(error.to_string()))?;
        Ok(self.kubeconfig_named(cluster, context, &who.user, |file| file.with_certificate(&pair)))
    }

    fn kubeconfig_named(
        &self,
        cluster: &str,
        context: &str,
        user: &str,
        write: impl FnOnce(&Kubeconfig<'_>) -> String,
    ) -> String {
        let (url, authority) = (self.url(cluster), self.0.authority.data());
        write(&Kubeconfig { name: context, user, url: &url, authority: &authority })
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.0.tokens
    }

    pub(crate) fn find(&self, cluster: &str) -> Result<Arc<Cluster>, Status> {
        let clusters = self.0.clusters.read().unwrap_or_else(PoisonError::into_inner);
        let missing = || Status::new(404, "NotFound", format!("there is no cluster {cluster:?}"));
        clusters.get(cluster).cloned().ok_or_else(missing)
    }
}

impl Inner {
    fn state(&self, name: &str, uid: String, version: u64) -> State {
        let kinds = crate::kinds::Kinds::new(self.catalog.kinds_of(name));
        State::new(uid, version, kinds, self.history)
    }

    fn cluster(&self, name: &str, state: State) -> Cluster {
        let parts = (self.clock.clone(), Arc::clone(&self.catalog), self.ids.clone());
        Cluster::new(name, state, parts, Arc::clone(&self.log), self.stop.child_token())
    }
}
