//! A landscape without delays, and clients of its control plane's cluster and of a runtime.
//!
//! What a reader would get wrong: the clock runs. Certificates are checked by the machine's time.

use std::sync::Arc;

use base::Clock;
use clients::{
    CallLimits, Component, Gate,
    btp::Btp,
    kubernetes::Cluster,
    lifecycle_manager::{LifecycleManager, Marks, Version},
};
use serde_json::Value;
use simulators::{
    ledger::Ledger,
    pace::Speed,
    testing::{Options, Running},
    trouble::Troubles,
};
use tempfile::TempDir;

use super::faults::{Expected, Fault, Row, Speaks};
use crate::world::PATIENCE;

pub(crate) const NAMESPACE: &str = "kcp-system";
pub(crate) const RUNTIME: &str = "runtime";

pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) clock: Clock,
    _folder: TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::running());
        let options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
        let running = Running::with(folder.path(), clock.clone(), 7, options).await;
        running.clusters().create_runtime(RUNTIME).unwrap();
        Self { running, clock, _folder: folder }
    }

    pub(crate) fn side(&self) -> (&Troubles, &Ledger) {
        (self.running.landscape.troubles(), self.running.landscape.ledger())
    }

    pub(crate) fn limits() -> CallLimits {
        CallLimits { call: PATIENCE, ..CallLimits::CLUSTER }
    }

    pub(crate) async fn cluster(&self, name: &str, limits: CallLimits) -> Cluster {
        let component = if name == RUNTIME { Component::RUNTIME } else { Component::CONTROL_PLANE };
        let kubeconfig = self.running.clusters().kubeconfig(name).unwrap();
        let gate = Gate::new(component, limits, self.clock.clone());
        Cluster::connect(gate, &kubeconfig.into()).await.unwrap()
    }

    pub(crate) async fn modules(&self) -> LifecycleManager {
        let cluster = self.cluster("kcp", Self::limits()).await;
        LifecycleManager::new(cluster, NAMESPACE, Version::V1Beta2)
    }

    pub(crate) async fn btp(&self) -> Btp {
        Btp::new(self.cluster(RUNTIME, Self::limits()).await)
    }

    /// Puts an object into a cluster, past trouble and ledger.
    pub(crate) fn put(&self, cluster: &str, object: &Value) {
        self.running.clusters().server().apply(cluster, "test", object).unwrap();
    }

    pub(crate) fn object(
        &self,
        cluster: &str,
        resource: &str,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Value>> {
        self.running.clusters().server().get(cluster, resource, namespace, name)
    }

    pub(crate) fn all(&self, cluster: &str, resource: &str) -> Vec<Arc<Value>> {
        self.running.clusters().server().list(cluster, resource)
    }

    /// The kubeconfigs in the control plane's cluster; the landscape has Secrets of its own there.
    pub(crate) fn kubeconfigs(&self) -> usize {
        let is_one = |object: &&Arc<Value>| {
            object["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("kubeconfig-"))
        };
        self.all("kcp", "secrets").iter().filter(is_one).count()
    }
}

pub(crate) fn marks(pairs: &[(&str, &str)]) -> Marks {
    let labels = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Marks { labels: labels.collect(), ..Marks::default() }
}

/// A request to a cluster.
pub(crate) const fn row(system: &'static str, method: &'static str, path: &'static str) -> Row {
    let changes = !matches!(method.as_bytes(), b"GET");
    Row { system, method, path, body: "", times: 1, speaks: Speaks::Kubernetes, changes }
}

/// A conflict is a concurrent change.
pub(crate) fn changed(fault: Fault) -> Option<Expected> {
    (fault == Fault::Status(409)).then_some(Expected::Fails(clients::Kind::Changed))
}
