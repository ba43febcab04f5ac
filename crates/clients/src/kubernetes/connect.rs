//! From a kubeconfig to a client.
//!
//! A kubeconfig comes from a Secret or from Gardener: it must bring its credentials itself. One that names
//! files or programs of this machine is refused, because whoever can write it would reach them.

use std::sync::Arc;

use hyper_util::{
    client::legacy,
    rt::{TokioExecutor, TokioTimer},
};
use kube::{
    Config,
    client::{Body, ClientBuilder, ConfigExt},
    config::{KubeConfigOptions, Kubeconfig},
};
use secrecy::{ExposeSecret, SecretString};
use tower::{BoxError, ServiceBuilder};

use super::{Cluster, GateLayer, classify};
use crate::{
    error::{Error, Kind},
    gate::Gate,
};

const DOING: &str = "reading a kubeconfig";

impl Cluster {
    /// The cluster of a kubeconfig, behind `gate`. Nothing is sent yet.
    pub async fn connect(gate: Arc<Gate>, kubeconfig: &SecretString) -> Result<Self, Error> {
        let failed = |why: &str| Error::new(gate.component(), Kind::Malformed, DOING).saying(why);
        // Parsers quote what they cannot read, so their texts are left out.
        let parsed = Kubeconfig::from_yaml(kubeconfig.expose_secret())
            .map_err(|_| failed("it is no kubeconfig"))?;
        if let Some(what) = foreign(&parsed) {
            return Err(failed(&format!("it points to {what}")));
        }
        let config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default())
            .await
            .map_err(|_| failed("it does not say where the cluster is and who we are"))?;
        Self::with(gate, &config).map_err(|error| Error { doing: DOING.into(), ..error })
    }

    /// The cluster of `kube`'s own settings: inside of a cluster, or in tests.
    pub fn with(gate: Arc<Gate>, config: &Config) -> Result<Self, Error> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Somebody else may have been faster, with the same one.
            let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        }
        let failed = |error| classify::error(gate.component(), "preparing the client", error);
        let mut connector = legacy::connect::HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(gate.limits().connect));
        let connector = config.rustls_https_connector_with_connector(connector).map_err(failed)?;
        let client: legacy::Client<_, Body> = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .build(connector);
        let service = ServiceBuilder::new()
            .layer(GateLayer::new(gate.clone()))
            .layer(config.base_uri_layer())
            .option_layer(config.auth_layer().map_err(failed)?)
            .layer(config.extra_headers_layer().map_err(failed)?)
            .map_err(BoxError::from)
            .service(client);
        let client = ClientBuilder::new(service, config.default_namespace.clone()).build();
        Ok(Self { client, gate })
    }
}

/// What a kubeconfig points to beyond the cluster itself.
fn foreign(kubeconfig: &Kubeconfig) -> Option<&'static str> {
    let users = kubeconfig.auth_infos.iter().filter_map(|named| named.auth_info.as_ref());
    let mut clusters = kubeconfig.clusters.iter().filter_map(|named| named.cluster.as_ref());
    for user in users {
        if user.exec.is_some() || user.auth_provider.is_some() {
            return Some("a program of this machine");
        }
        let files = [&user.token_file, &user.client_certificate, &user.client_key];
        if files.iter().any(|file| file.is_some()) {
            return Some("a file of this machine");
        }
    }
    clusters.find_map(|cluster| {
        let proxy = cluster.proxy_url.as_ref().map(|_| "a proxy, which is not supported");
        cluster.certificate_authority.as_ref().map(|_| "a file of this machine").or(proxy)
    })
}
