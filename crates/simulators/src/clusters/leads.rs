//! Where a kubeconfig leads: tried as its holder would, but past the ledger and past all trouble.

use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, api::ListParams, config::Kubeconfig};
use serde_json::Value;

use super::{Known, own};

/// Where a kubeconfig leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leads {
    /// It is none.
    Nowhere(String),
    /// To a server that is not one of the landscape's.
    Elsewhere,
    /// To one of the landscape's clusters, and does not open it.
    Refused(String),
    /// Into this cluster of the landscape.
    To(String),
}

/// Who goes into runtimes with the kubeconfigs of others.
pub(crate) trait Visits: Send + Sync + 'static {
    /// Tries a kubeconfig.
    fn leads<'a>(&'a self, kubeconfig: &'a str) -> BoxFuture<'a, Leads>;
    /// Puts an object into a runtime, with its status.
    fn put(&self, runtime: &str, object: &Value) -> Result<(), String>;
    /// Takes an object out of a runtime.
    fn take(&self, runtime: &str, resource: &str, object: &Value) -> Result<(), String>;
    /// The objects of a kind in a runtime.
    fn list(&self, runtime: &str, resource: &str) -> Vec<Value>;
}

impl Visits for Known {
    fn leads<'a>(&'a self, kubeconfig: &'a str) -> BoxFuture<'a, Leads> {
        self.follow(kubeconfig).boxed()
    }

    fn put(&self, runtime: &str, object: &Value) -> Result<(), String> {
        let put = self.server.apply_with_status(runtime, own::USER, object);
        put.map(drop).map_err(|status| status.to_string())
    }

    fn take(&self, runtime: &str, resource: &str, object: &Value) -> Result<(), String> {
        let word = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
        let taken = self.server.remove(runtime, resource, word("namespace"), word("name"));
        taken.map(drop).map_err(|status| status.to_string())
    }

    fn list(&self, runtime: &str, resource: &str) -> Vec<Value> {
        self.server.list(runtime, resource).iter().map(|object| (**object).clone()).collect()
    }
}

impl Known {
    async fn follow(&self, text: &str) -> Leads {
        let read = match Kubeconfig::from_yaml(text) {
            Ok(read) => read,
            Err(error) => return Leads::Nowhere(error.to_string()),
        };
        let server = read.clusters.first().and_then(|one| one.cluster.as_ref()?.server.clone());
        let Some(server) = server else { return Leads::Nowhere("it names no server".into()) };
        let Some(name) = server.strip_prefix(&self.server.url("")) else { return Leads::Elsewhere };
        let name = name.trim_end_matches('/');
        if let Some(why) = self.reach.closed(name) {
            return Leads::Refused(format!("cluster {name} cannot be reached: {why:?}"));
        }
        let client = match self.password.client_with(read).await {
            Ok(client) => client,
            Err(error) => return Leads::Nowhere(error.to_string()),
        };
        let one = ListParams::default().limit(1);
        match Api::<Namespace>::all(client).list(&one).await {
            Ok(_) => Leads::To(name.to_owned()),
            Err(error) => Leads::Refused(error.to_string()),
        }
    }
}
