//! Where a kubeconfig leads: tried as its holder would, but past the ledger and past all trouble.

use std::time::Duration;

use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, Config, Error,
    api::ListParams,
    config::{KubeConfigOptions, Kubeconfig, NamedAuthInfo},
};
use serde_json::Value;

use super::{ClusterContext, own};

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

/// Visits runtimes with the kubeconfigs of other systems.
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

impl Visits for ClusterContext {
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

impl ClusterContext {
    async fn follow(&self, text: &str) -> Leads {
        let read = match Kubeconfig::from_yaml(text) {
            Ok(read) => read,
            Err(error) => return Leads::Nowhere(error.to_string()),
        };
        let server = read.clusters.first().and_then(|one| one.cluster.as_ref()?.server.clone());
        let Some(server) = server else { return Leads::Nowhere("it names no server".into()) };
        let runs = |one: &NamedAuthInfo| {
            let info = one.auth_info.as_ref();
            info.is_some_and(|info| info.exec.is_some() || info.auth_provider.is_some())
        };
        if read.auth_infos.iter().any(runs) {
            return Leads::Nowhere("it wants a program to be run".into());
        }
        let Some(name) = server.strip_prefix(&self.server.url("")) else { return Leads::Elsewhere };
        let name = name.trim_end_matches('/');
        if let Some(why) = self.reach.closed(name) {
            return Leads::Refused(format!("cluster {name} cannot be reached: {why:?}"));
        }
        let client = match self.password.client_with(read).await {
            Ok(client) => client,
            Err(error) => return Leads::Nowhere(error.to_string()),
        };
        match list_namespaces(client).await {
            Ok(()) => Leads::To(name.to_owned()),
            Err(error) => Leads::Refused(error.to_string()),
        }
    }
}

/// How long a server outside of the landscape may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lists namespaces with a kubeconfig for a server that is not one of the landscape's; says why that does not work.
pub(crate) async fn open_elsewhere(kubeconfig: &str) -> Result<(), String> {
    own::install_crypto();
    let read = Kubeconfig::from_yaml(kubeconfig).map_err(|error| error.to_string())?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(read, &options).await;
    let mut config = config.map_err(|error| error.to_string())?;
    config.connect_timeout = Some(PATIENCE);
    config.read_timeout = Some(PATIENCE);
    let client = Client::try_from(config).map_err(|error| error.to_string())?;
    list_namespaces(client).await.map_err(|error| error.to_string())
}

async fn list_namespaces(client: Client) -> Result<(), Error> {
    Api::<Namespace>::all(client).list(&ListParams::default().limit(1)).await.map(drop)
}
