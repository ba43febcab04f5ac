//! The landscape's own clients of its clusters: clients whose calls are in no ledger and meet no trouble.
//!
//! What a reader would get wrong: they go through the same port and the same API as everybody. They are
//! distinguished by a header whose value is made up at every start and leaves the process only to itself.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use cluster::Server;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use uuid::Uuid;

/// The user of the landscape's controllers in every cluster.
pub(crate) const USER: &str = "system:landscape";
const HEADER: HeaderName = HeaderName::from_static("x-kcp-landscape");

/// The word that opens the side door.
#[derive(Debug, Clone)]
pub(super) struct Password(HeaderValue);

/// A cluster that cannot be spoken to.
#[derive(Debug, thiserror::Error)]
pub enum ClusterAccessError {
    /// There is no such cluster.
    #[error(transparent)]
    Missing(#[from] cluster::Status),
    /// The kubeconfig cannot be used.
    #[error("the kubeconfig cannot be used")]
    Kubeconfig(#[from] kube::config::KubeconfigError),
    /// The client cannot be made.
    #[error("the client cannot be made")]
    Client(#[from] kube::Error),
}

impl Password {
    /// A new one.
    pub(super) fn new() -> Self {
        let word = Uuid::new_v4().simple().to_string();
        Self(HeaderValue::from_str(&word).expect("hexadecimal digits can stand in a header"))
    }

    /// Whether a request shows it.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        headers.get(HEADER) == Some(&self.0)
    }

    /// A client of one cluster that shows it.
    pub(super) async fn client(
        &self,
        server: &Server,
        cluster: &str,
    ) -> Result<Client, ClusterAccessError> {
        self.client_with(Kubeconfig::from_yaml(&server.kubeconfig(cluster, USER)?)?).await
    }

    /// A client that shows it, with another system's kubeconfig.
    pub(super) async fn client_with(
        &self,
        kubeconfig: Kubeconfig,
    ) -> Result<Client, ClusterAccessError> {
        install_crypto();
        let options = KubeConfigOptions::default();
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
        config.headers.push((HEADER, self.0.clone()));
        Ok(Client::try_from(config)?)
    }
}

pub(super) fn install_crypto() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // It may have been installed concurrently, with the same one.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    }
}
