//! From a kubeconfig to a client.
//!
//! A kubeconfig comes from a Secret, from Gardener or from a customer: it must bring its credentials itself. One that names
//! files or programs of this machine is refused, because its author would reach them. A customer's leads over verified TLS
//! to addresses that customers may reach, and nowhere else.

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

use super::{Cluster, GateLayer, Networks, classify, networks::Resolver};
use crate::{
    error::{Error, Kind},
    gate::Gate,
};

const DOING: &str = "reading a kubeconfig";

impl Cluster {
    /// The cluster of a kubeconfig, behind `gate`. Nothing is sent yet.
    pub async fn connect(gate: Arc<Gate>, kubeconfig: &SecretString) -> Result<Self, Error> {
        Self::within(gate, kubeconfig, None).await
    }

    /// The cluster of a kubeconfig, behind `gate`; of one that a customer brings, if it leads to where it may. Nothing is sent yet.
    pub(super) async fn within(
        gate: Arc<Gate>,
        kubeconfig: &SecretString,
        networks: Option<Arc<Networks>>,
    ) -> Result<Self, Error> {
        // What a customer brings does not change; what comes from elsewhere is asked for again.
        let kind = if networks.is_some() { Kind::Refused { status: 400 } } else { Kind::Malformed };
        let failed = |why: &str| Error::new(gate.component(), kind, DOING).saying(why);
        // Parsers quote what they cannot read, so their texts are left out.
        let parsed = Kubeconfig::from_yaml(kubeconfig.expose_secret())
            .map_err(|_| failed("it is no kubeconfig"))?;
        if let Some(what) = foreign(&parsed) {
            return Err(failed(&format!("it points to {what}")));
        }
        if let Some(problem) = networks.as_deref().and_then(|networks| inward(&parsed, networks)) {
            return Err(failed(problem));
        }
        let config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default())
            .await
            .map_err(|_| failed("it does not say where the cluster is and who we are"))?;
        Self::resolving(gate, &config, networks)
            .map_err(|error| Error { doing: DOING.into(), ..error })
    }

    /// The cluster of `kube`'s own settings: inside of a cluster, or in tests.
    pub fn with(gate: Arc<Gate>, config: &Config) -> Result<Self, Error> {
        Self::resolving(gate, config, None)
    }

    fn resolving(
        gate: Arc<Gate>,
        config: &Config,
        networks: Option<Arc<Networks>>,
    ) -> Result<Self, Error> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // It may have been installed concurrently, with the same one.
            let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        }
        let failed = |error| classify::error(gate.component(), "preparing the client", error);
        let mut connector =
            legacy::connect::HttpConnector::new_with_resolver(Resolver::new(networks));
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

/// Why a kubeconfig that a customer brings cannot be used, as far as that is seen without a connection. What it holds is not repeated.
#[must_use]
pub fn problem_of_customer(kubeconfig: &str, networks: &Networks) -> Option<String> {
    let Ok(parsed) = Kubeconfig::from_yaml(kubeconfig) else {
        return Some("kubeconfig cannot be read".into());
    };
    let foreign = foreign(&parsed).map(|what| format!("kubeconfig points to {what}"));
    foreign.or_else(|| inward(&parsed, networks).map(|problem| format!("kubeconfig {problem}")))
}

/// The problem with the address in a customer's kubeconfig.
fn inward(kubeconfig: &Kubeconfig, networks: &Networks) -> Option<&'static str> {
    let clusters = kubeconfig.clusters.iter().filter_map(|named| named.cluster.as_ref());
    clusters.into_iter().find_map(|cluster| {
        let server = cluster.server.as_deref().and_then(|server| server.parse::<http::Uri>().ok());
        let Some(server) = server else { return Some("has a cluster without a server") };
        if server.scheme_str() != Some("https") {
            return Some("has a server that is not reached by https");
        }
        if cluster.insecure_skip_tls_verify == Some(true) {
            return Some("has a cluster whose certificate is not verified");
        }
        let refused = server.host().is_none_or(|host| networks.refuse(host));
        refused.then_some("has a server at an address that is not allowed")
    })
}

/// A reference in a kubeconfig beyond the cluster itself.
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
