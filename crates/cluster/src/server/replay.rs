//! From the data folder to clusters and back: opening, replaying, compacting.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use base::Clock;
use base64::{Engine, engine::general_purpose::STANDARD};
use tokio_util::sync::CancellationToken;

use super::{Error, Inner, Server, Settings};
use crate::{
    Catalog,
    access::{Authority, Tokens, kept},
    ids::{Ids, random_seed},
    kinds::Kinds,
    store::{History, Log, Record, State},
};

/// Names of the server for clients on this machine.
const NAMES: [&str; 3] = ["127.0.0.1", "::1", "localhost"];

impl Server {
    pub(super) fn open(
        settings: &Settings,
        clock: Clock,
        catalog: Catalog,
        address: SocketAddr,
    ) -> Result<Self, Error> {
        let folder = |source| Error::Folder { path: settings.data.clone(), source };
        fs::create_dir_all(&settings.data).map_err(folder)?;
        let lock = File::create(settings.data.join("lock")).map_err(folder)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse(settings.data.clone())),
            Err(TryLockError::Error(source)) => return Err(folder(source)),
        }
        let names: Vec<String> = NAMES.iter().map(ToString::to_string).collect();
        let names = [names, settings.names.clone()].concat();
        let authority = Authority::open(&settings.data.join("pki"), &names).map_err(folder)?;
        let secret = |name| kept(&settings.data, name, || Ok(STANDARD.encode(random_seed())));
        let tokens = Tokens::new(secret("token.key").map_err(folder)?.as_bytes());
        let seed = match settings.seed {
            Some(seed) => seed.to_le_bytes().to_vec(),
            None => secret("seed").map_err(folder)?.into_bytes(),
        };
        let mut states = BTreeMap::new();
        let log = Log::open(&settings.data.join("log"), settings.sync, settings.compact_after, {
            let (states, catalog) = (&mut states, &catalog);
            move |record, old| replay(states, record, old, catalog, settings.history)
        })
        .map_err(Error::Log)?;
        let inner = Inner {
            address,
            authority,
            tokens,
            clock,
            catalog: Arc::new(catalog),
            ids: Ids::new(seed),
            history: settings.history,
            log: Arc::new(log),
            clusters: RwLock::default(),
            stop: CancellationToken::new(),
            tasks: Mutex::default(),
            lock: Mutex::new(Some(lock)),
        };
        let clusters = states.into_iter().map(|(name, state)| {
            let cluster = Arc::new(inner.cluster(&name, state));
            (name, cluster)
        });
        *inner.clusters.write().unwrap_or_else(PoisonError::into_inner) = clusters.collect();
        Ok(Self(Arc::new(inner)))
    }

    /// Replaces the log by a snapshot of what is there now.
    fn compact(&self) -> io::Result<()> {
        self.0.log.compact(|say| {
            let clusters = self.0.clusters.read().unwrap_or_else(PoisonError::into_inner).clone();
            for cluster in clusters.values() {
                for record in cluster.snapshot() {
                    say(&record)?;
                }
            }
            Ok(())
        })
    }

    pub(super) async fn compact_when_grown(self) {
        loop {
            tokio::select! {
                () = self.0.log.grown.notified() => {}
                () = self.0.stop.cancelled() => return,
            }
            let server = self.clone();
            match tokio::task::spawn_blocking(move || server.compact()).await {
                Ok(Ok(())) => tracing::debug!("the clusters' log is compacted"),
                Ok(Err(error)) => tracing::warn!(%error, "cannot compact the clusters' log"),
                Err(error) => tracing::warn!(%error, "compacting the clusters' log did not end"),
            }
        }
    }
}

fn replay(
    states: &mut BTreeMap<String, State>,
    record: Record,
    from_snapshot: bool,
    catalog: &Catalog,
    history: History,
) {
    match record {
        Record::Cluster { name, uid, version } => {
            if states.get(&name).is_none_or(|state| state.uid != uid) {
                let kinds = Kinds::new(catalog.kinds_of(&name));
                states.insert(name, State::new(uid, version, kinds, history));
            }
        }
        Record::Removed { name, uid } => {
            if states.get(&name).is_some_and(|state| state.uid == uid) {
                states.remove(&name);
            }
        }
        Record::Changes { cluster, uid, changes } => {
            let Some(state) = states.get_mut(&cluster).filter(|state| state.uid == uid) else {
                return;
            };
            for change in changes {
                if from_snapshot { state.restore(&change) } else { state.apply(change) }
            }
        }
    }
}
