//! Clusters over TLS: whom we trust, and who we are by certificate.

use std::{net::SocketAddr, sync::Arc};

use axum::{Json, Router, serve::Listener};
use base::Clock;
use base64::{Engine, engine::general_purpose::STANDARD};
use clients::{
    CallLimits, Component, Error, Gate, Kind,
    kubernetes::{Cluster, Objects, Resource},
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer},
    server::WebPkiClientVerifier,
};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
}

struct Identity {
    certificate: CertificateDer<'static>,
    pem: String,
    key: KeyPair,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let (pem, certificate) = (certificate.pem(), certificate.der().clone());
        Self { issuer: Issuer::new(params, key), certificate, pem }
    }

    fn identity(&self, name: &str) -> Identity {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity { pem: certificate.pem(), certificate: certificate.der().clone(), key }
    }
}

struct Tls(TcpListener, TlsAcceptor);

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.0.accept().await.unwrap();
            if let Ok(stream) = self.1.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

async fn serve(authority: &Authority) -> String {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut trusted = RootCertStore::empty();
    trusted.add(authority.certificate.clone()).unwrap();
    let clients = WebPkiClientVerifier::builder_with_provider(trusted.into(), provider.clone());
    let server = authority.identity("127.0.0.1");
    let key = PrivateKeyDer::try_from(server.key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(clients.build().unwrap())
        .with_single_cert(vec![server.certificate], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Router::new().fallback(async || Json(json!({"data": {"a": "b"}})));
    let tls = Tls(listener, TlsAcceptor::from(Arc::new(config)));
    tokio::spawn(async move { axum::serve(tls, routes).await });
    format!("https://{address}")
}

async fn read(server: &str, trusted: &Authority, who: Option<&Identity>) -> Result<Value, Error> {
    let user = who.map_or(json!({}), |who| {
        json!({
            "client-certificate-data": STANDARD.encode(&who.pem),
            "client-key-data": STANDARD.encode(who.key.serialize_pem()),
        })
    });
    let authority = STANDARD.encode(&trusted.pem);
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server, "certificate-authority-data": authority}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
    });
    let gate = Gate::new(Component::RUNTIME, CallLimits::DEFAULT, Clock::running());
    let cluster = Cluster::connect(gate, &kubeconfig.to_string().into()).await?;
    let maps: Objects<Value> =
        cluster.objects(Resource::core("ConfigMap", "configmaps"), Some("a"));
    maps.get("one").await
}

#[tokio::test]
async fn a_certificate_opens_the_cluster_whose_authority_is_trusted() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = serve(&authority).await;
    let admin = authority.identity("admin");

    let found = read(&server, &authority, Some(&admin)).await.unwrap();
    assert_eq!(found["data"]["a"], "b");

    for (trusted, who) in
        [(&other, Some(&admin)), (&authority, Some(&other.identity("admin"))), (&authority, None)]
    {
        let error = read(&server, trusted, who).await.unwrap_err();
        assert_eq!(error.kind, Kind::Unavailable, "{error:?}");
    }
}
