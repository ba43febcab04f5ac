//! A garden and a runtime on one port: the kinds that clients use, without Gardener itself.
//!
//! What a reader would get wrong: the clock runs. Certificates are checked by the machine's time.

use std::{num::NonZeroUsize, sync::Arc};

use base::Clock;
use base64::{Engine, engine::general_purpose::STANDARD};
use clients::{
    CallLimits, Component, Gate,
    gardener::{CONFIRMATION_ANNOTATION, Gardener, RUNTIME_ANNOTATION, Shoot},
    kubernetes::{Cluster, Clusters},
    runtime::Runtime,
};
use cluster::{
    Answer, Call, Catalog, Cause, Identity, Kind, Server, Settings, Status, Verb, Where,
};
use jiff::SignedDuration;
use serde_json::{Value, json};
use simulators::{
    ledger::Ledger,
    trouble::{Troubles, around},
};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::{faults::Speaks, world::PATIENCE};

pub(crate) const NAMESPACE: &str = "garden-kyma";
pub(crate) const SHOOTS: &str = "shoots.core.gardener.cloud";

pub(crate) struct Garden {
    pub(crate) server: Server,
    pub(crate) troubles: Arc<Troubles>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) clock: Clock,
    _folder: TempDir,
}

/// A request to the garden, or to the runtime.
pub(crate) const fn row(method: &'static str, path: &'static str) -> crate::faults::Row {
    let changes = !matches!(method.as_bytes(), b"GET");
    let (system, body, times, speaks) = ("clusters", "", 1, Speaks::Kubernetes);
    crate::faults::Row { system, method, path, body, times, speaks, changes }
}

impl Garden {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::running();
        let file = |name: &str| folder.path().join(name);
        let ledger = Arc::new(Ledger::open(&file("ledger.log"), clock.clone()).unwrap());
        let troubles = Troubles::open(&file("troubles.log"), 7, clock.clone()).unwrap();
        let troubles = Arc::new(troubles);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (settings, wrapped) = (Settings::new(file("clusters")), ledger.clone());
        let (by, time) = (troubles.clone(), clock.clone());
        let wrap = move |routes| around(routes, "clusters", wrapped, by, time);
        let server =
            Server::start(settings, clock.clone(), catalog(), listener, wrap).await.unwrap();
        for name in ["garden", "runtime"] {
            server.create_cluster(name).unwrap();
        }
        let garden = Self { server, troubles, ledger, clock, _folder: folder };
        garden.put(&json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
        }));
        garden
    }

    pub(crate) fn side(&self) -> (&Troubles, &Ledger) {
        (&self.troubles, &self.ledger)
    }

    pub(crate) fn put(&self, object: &Value) {
        self.server.apply("garden", "test", object).unwrap();
    }

    pub(crate) async fn cluster(&self, name: &str, limits: CallLimits) -> Cluster {
        let component = if name == "garden" { Component::GARDENER } else { Component::RUNTIME };
        let gate = Gate::new(component, limits, self.clock.clone());
        let kubeconfig = self.server.kubeconfig(name, "tester").unwrap();
        Cluster::connect(gate, &kubeconfig.into()).await.unwrap()
    }

    pub(crate) fn limits() -> CallLimits {
        CallLimits { call: PATIENCE, ..CallLimits::CLUSTER }
    }

    pub(crate) async fn gardener(&self) -> Gardener {
        Gardener::new(self.cluster("garden", Self::limits()).await, "kyma", "kcp-provisioner")
    }

    pub(crate) async fn runtime(&self) -> Runtime {
        Runtime::new(self.cluster("runtime", Self::limits()).await, "kcp-provisioner")
    }

    /// Clients of runtimes, by their kubeconfigs.
    pub(crate) fn runtimes(&self) -> Clusters {
        let most = NonZeroUsize::new(4).unwrap();
        Clusters::new(Component::RUNTIME, Self::limits(), self.clock.clone(), most)
    }

    /// The Shoots with a name.
    pub(crate) fn shoots(&self, name: &str) -> Vec<Arc<Value>> {
        let mut all = self.server.list("garden", SHOOTS);
        all.retain(|shoot| shoot["metadata"]["name"] == name);
        all
    }
}

pub(crate) fn shoot(name: &str, runtime: &str) -> Shoot {
    let mut shoot = Shoot::named(name);
    let annotations = shoot.metadata.annotations.get_or_insert_default();
    annotations.insert(RUNTIME_ANNOTATION.into(), runtime.into());
    shoot.spec.region = Some("eu".into());
    shoot.spec.rest.insert("networking".into(), json!({"type": "calico"}));
    shoot
}

fn catalog() -> Catalog {
    let garden = || Where::Only("garden".into());
    let old = Kind::new("core.gardener.cloud", "v1beta1", "secretbindings", "SecretBinding");
    let new = Kind::new(
        "security.gardener.cloud",
        "v1alpha1",
        "credentialsbindings",
        "CredentialsBinding",
    );
    let shoots = Kind::new("core.gardener.cloud", "v1beta1", "shoots", "Shoot")
        .namespaced()
        .subresource("status")
        .subresource("adminkubeconfig");
    Catalog::default()
        .kind(garden(), shoots)
        .kind(garden(), old.namespaced())
        .kind(garden(), new.namespaced())
        .admission(garden(), SHOOTS, |write| {
            let confirmed = &write.object["metadata"]["annotations"][CONFIRMATION_ANNOTATION];
            if write.verb == Verb::Delete && confirmed != "true" {
                return Err(Status::forbidden(write.kind, "c-1", "deletion is not confirmed"));
            }
            if write.object["spec"]["region"] == "full" {
                let why = "quota limits exceeded. Unable to allocate further cpu";
                return Err(Status::forbidden(write.kind, "c-1", why));
            }
            Ok(())
        })
        .subresource(garden(), SHOOTS, "adminkubeconfig", admin_kubeconfig)
}

async fn admin_kubeconfig(call: Call) -> Answer {
    let seconds = call.body["spec"]["expirationSeconds"].as_i64().unwrap_or(3_600);
    if seconds < 600 {
        let kind =
            Kind::new("authentication.gardener.cloud", "v1alpha1", "x", "AdminKubeconfigRequest");
        let cause = Cause::invalid("spec.expirationSeconds", &seconds.to_string(), "too short");
        return Err(Status::invalid(&kind, "c-1", &[cause]));
    }
    let (who, valid) = (Identity::admin("admin"), SignedDuration::from_secs(seconds));
    let kubeconfig = call.server.kubeconfig_with_certificate("runtime", "c-1", &who, valid)?;
    let until = Clock::running().now() + valid;
    let status = json!({
        "kubeconfig": STANDARD.encode(kubeconfig), "expirationTimestamp": until.to_string(),
    });
    Ok((
        201,
        json!({"kind": "AdminKubeconfigRequest", "spec": call.body["spec"], "status": status}),
    ))
}
