//! Certificates are checked: a server that nobody vouches for gets no request, and no credentials.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, serve::Listener};
use clients::Kind;
use rcgen::{CertificateParams, KeyPair};
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use url::Url;

use super::{
    calls,
    golden::issuer,
    support::{Journal, noon},
    test_systems::TestSystems,
};

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

/// A server that vouches for itself, and what it hears.
async fn vouching_for_itself() -> (Url, Journal) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap().der().clone();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let journal = Journal::default();
    let kept = journal.clone();
    let routes = Router::new().fallback(move |request| async move {
        kept.note(request).await;
    });
    let tls = Tls(listener, TlsAcceptor::from(Arc::new(config)));
    tokio::spawn(async move { axum::serve(tls, routes).await });
    (Url::parse(&format!("https://{address}")).unwrap(), journal)
}

#[tokio::test]
async fn a_server_that_vouches_for_itself_hears_nothing() {
    let (issuer, _) = issuer().await;
    let (systems, heard) = vouching_for_itself().await;

    let clock = noon();
    let place = TestSystems::new(systems, issuer, &clock).keeping_clients();

    for call in calls::all() {
        let error = (call.make)(place.clone()).await.unwrap_err();

        assert_eq!(error.kind, Kind::Unavailable, "{}", call.name);
        clock.advance(Duration::from_secs(10));
    }
    assert_eq!(heard.len(), 0);
}
