//! Clients of many clusters: one per kubeconfig, the least used let go first.
//!
//! Each cluster has a gate of its own: a broken runtime must not stop the calls to the others.

use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use aws_lc_rs::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use base::Clock;
use secrecy::{ExposeSecret, SecretString};

use super::{Cluster, Networks};
use crate::{
    error::{Component, Error},
    gate::{CallLimits, Gate},
    observer::{NoObserver, Observer},
};

type Digest = [u8; SHA256_OUTPUT_LEN];

/// Clients that are kept while they are used.
pub struct Clusters {
    component: Component,
    limits: CallLimits,
    clock: Clock,
    observer: Arc<dyn Observer>,
    /// Where the clusters may be, if customers have brought them.
    networks: Option<Arc<Networks>>,
    capacity: NonZeroUsize,
    /// The last used one stands at the end.
    kept: Mutex<Vec<(Digest, Cluster)>>,
}

impl Clusters {
    /// Keeps at most `capacity` clients of clusters called `component`.
    pub fn new(
        component: Component,
        limits: CallLimits,
        clock: Clock,
        capacity: NonZeroUsize,
    ) -> Self {
        let observer = Arc::new(NoObserver);
        let networks = None;
        Self { component, limits, clock, observer, networks, capacity, kept: Mutex::default() }
    }

    /// Of clusters that customers bring: their kubeconfigs lead over verified TLS to public addresses and to these networks.
    #[must_use]
    pub fn of_customers(mut self, networks: Networks) -> Self {
        self.networks = Some(Arc::new(networks));
        self
    }

    /// Sets the observer of calls.
    #[must_use]
    pub fn observed(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// The client for a kubeconfig: the one that is kept, or a new one.
    pub async fn get(&self, kubeconfig: &SecretString) -> Result<Cluster, Error> {
        let key = key(kubeconfig);
        if let Some(found) = take(&mut self.kept(), key) {
            return Ok(found);
        }
        let clock = self.clock.clone();
        let gate = Gate::observed(self.component, self.limits, clock, self.observer.clone());
        let made = Cluster::within(gate, kubeconfig, self.networks.clone()).await?;
        let mut kept = self.kept();
        // Another task may have made one meanwhile: one cluster has one gate.
        if let Some(found) = take(&mut kept, key) {
            return Ok(found);
        }
        if kept.len() >= self.capacity.get() {
            kept.remove(0);
        }
        kept.push((key, made.clone()));
        Ok(made)
    }

    /// Lets a client go whose kubeconfig is not valid any more.
    pub fn forget(&self, kubeconfig: &SecretString) {
        let key = key(kubeconfig);
        self.kept().retain(|(kept, _)| *kept != key);
    }

    /// How many clients are kept.
    pub fn len(&self) -> usize {
        self.kept().len()
    }

    /// Whether no client is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(Digest, Cluster)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds a client and moves it to the end.
fn take(kept: &mut Vec<(Digest, Cluster)>, key: Digest) -> Option<Cluster> {
    let at = kept.iter().position(|(kept, _)| *kept == key)?;
    let found = kept.remove(at);
    kept.push(found.clone());
    Some(found.1)
}

fn key(kubeconfig: &SecretString) -> Digest {
    let mut key = [0; SHA256_OUTPUT_LEN];
    key.copy_from_slice(digest(&SHA256, kubeconfig.expose_secret().as_bytes()).as_ref());
    key
}

impl fmt::Debug for Clusters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clusters")
            .field("component", &self.component)
            .field("networks", &self.networks)
            .field("kept", &self.len())
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}
