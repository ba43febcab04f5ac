//! Where the clusters of Shoots live in these tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use cluster::Server;
use simulators::garden::Runtimes;

/// Clusters of Shoots, with a note of every call.
pub(crate) struct RecordedClusters {
    server: Option<Server>,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    there: BTreeSet<String>,
    made: BTreeMap<String, u32>,
    unreachable: BTreeSet<String>,
    broken: bool,
}

impl Runtimes for RecordedClusters {
    fn create(&self, cluster: &str) -> Result<(), String> {
        let mut calls = self.calls.lock().unwrap();
        if calls.broken {
            return Err("the seed is full".to_owned());
        }
        if calls.there.insert(cluster.to_owned()) {
            *calls.made.entry(cluster.to_owned()).or_default() += 1;
        }
        match &self.server {
            Some(server) => server.create_cluster(cluster).map(drop).map_err(|s| s.to_string()),
            None => Ok(()),
        }
    }

    fn remove(&self, cluster: &str) -> Result<(), String> {
        self.calls.lock().unwrap().there.remove(cluster);
        match &self.server {
            Some(server) => server.remove_cluster(cluster).map(drop).map_err(|s| s.to_string()),
            None => Ok(()),
        }
    }

    fn set_reachable(&self, cluster: &str, reachable: bool) {
        let mut calls = self.calls.lock().unwrap();
        if reachable {
            calls.unreachable.remove(cluster);
        } else {
            calls.unreachable.insert(cluster.to_owned());
        }
    }

    fn kubeconfig(&self, cluster: &str) -> Option<String> {
        self.server.as_ref()?.kubeconfig(cluster, "static").ok()
    }
}

impl RecordedClusters {
    /// Clusters on a server, or only in the notes.
    pub(crate) fn on(server: Option<Server>) -> Self {
        Self { server, calls: Mutex::default() }
    }

    /// How often a cluster of this name was made that was not there.
    pub(crate) fn made(&self, cluster: &str) -> u32 {
        self.calls.lock().unwrap().made.get(cluster).copied().unwrap_or(0)
    }

    pub(crate) fn is_there(&self, cluster: &str) -> bool {
        self.calls.lock().unwrap().there.contains(cluster)
    }

    pub(crate) fn count(&self) -> usize {
        self.calls.lock().unwrap().there.len()
    }

    pub(crate) fn is_reachable(&self, cluster: &str) -> bool {
        !self.calls.lock().unwrap().unreachable.contains(cluster)
    }

    /// From now on no cluster can be made, or again.
    pub(crate) fn break_down(&self, broken: bool) {
        self.calls.lock().unwrap().broken = broken;
    }
}
