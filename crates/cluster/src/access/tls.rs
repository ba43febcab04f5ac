//! The TLS side of the port.
//!
//! A client certificate is asked for but not demanded. As in Kubernetes, a bad one does not break the
//! connection: it is answered with 401, so that clients can tell an expired certificate from a
//! network that is down.

use std::{io, sync::Arc, time::Duration};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use jiff::Timestamp;
use rustls::{
    DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConfig, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::aws_lc_rs::default_provider,
    pki_types::{CertificateDer, UnixTime},
    server::{
        WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::sync::CancellationToken;

use super::{
    Authority, Identity,
    der::{Subject, subject},
};

/// How long a client may take to say hello.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long to leave the port alone when it cannot be listened to.
const PAUSE: Duration = Duration::from_millis(50);

/// The peer of a connection.
#[derive(Debug, Clone)]
pub(crate) enum Peer {
    /// A peer without a certificate.
    Unknown,
    /// A peer with a certificate that we did not sign.
    Stranger,
    /// A peer with a certificate of ours; its validity is checked with every request.
    Certified(Subject),
}

impl Peer {
    /// The identity in one cluster at one time; none without a certificate.
    pub(crate) fn identity(&self, cluster: &str, now: Timestamp) -> Option<Result<Identity, ()>> {
        match self {
            Self::Unknown => None,
            Self::Stranger => Some(Err(())),
            Self::Certified(subject) => {
                let valid = subject.cluster == cluster
                    && subject.valid_from <= now
                    && now < subject.valid_until;
                let (user, groups) = (subject.user.clone(), subject.groups.clone());
                Some(if valid { Ok(Identity { user, groups }) } else { Err(()) })
            }
        }
    }
}

/// Takes any client certificate whose key the client has; the chain is checked afterwards.
#[derive(Debug)]
struct Lenient(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for Lenient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Greets clients.
#[derive(Clone)]
pub(crate) struct Acceptor {
    tls: TlsAcceptor,
    chain: Arc<dyn ClientCertVerifier>,
}

/// Prepares the TLS side.
pub(crate) fn acceptor(authority: &Authority) -> io::Result<Acceptor> {
    let provider = Arc::new(default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(authority.root()?).map_err(io::Error::other)?;
    let chain = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .build()
        .map_err(io::Error::other)?;
    let (certificates, key) = authority.server()?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_client_cert_verifier(Arc::new(Lenient(Arc::clone(&chain))))
        .with_single_cert(certificates, key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Acceptor { tls: TlsAcceptor::from(Arc::new(config)), chain })
}

impl Acceptor {
    async fn greet(&self, stream: TcpStream) -> io::Result<(TlsStream<TcpStream>, Peer)> {
        // Small answers must not wait for each other.
        stream.set_nodelay(true)?;
        let stream = tokio::time::timeout(HANDSHAKE, self.tls.accept(stream)).await??;
        let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let peer = certificate.map_or(Peer::Unknown, |certificate| self.judge(certificate));
        Ok((stream, peer))
    }

    /// Checks the chain as of the certificate's own beginning: whether it is valid *now* is asked of
    /// our clock with every request.
    fn judge(&self, certificate: &CertificateDer<'_>) -> Peer {
        let Some(subject) = subject(certificate) else { return Peer::Stranger };
        let seconds = u64::try_from(subject.valid_from.as_second()).unwrap_or(0);
        let then = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        match self.chain.verify_client_cert(certificate, &[], then) {
            Ok(_) => Peer::Certified(subject),
            Err(_) => Peer::Stranger,
        }
    }
}

/// Hands connections to axum once they are greeted; a slow client delays nobody.
pub(crate) struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, Peer)>,
}

impl TlsListener {
    /// Starts greeting, until `stop`.
    pub(crate) fn start(
        listener: TcpListener,
        acceptor: Acceptor,
        stop: CancellationToken,
    ) -> Self {
        let (send, ready) = mpsc::channel(64);
        tokio::spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = stop.cancelled() => return,
                };
                let Ok((stream, _)) = accepted else {
                    // Out of file descriptors, most likely: wait until some are closed.
                    let _ = tokio::time::timeout(PAUSE, stop.cancelled()).await;
                    continue;
                };
                let (acceptor, send) = (acceptor.clone(), send.clone());
                tokio::spawn(async move {
                    match acceptor.greet(stream).await {
                        Ok(greeted) => _ = send.send(greeted).await,
                        Err(error) => tracing::debug!(%error, "a client did not get through TLS"),
                    }
                });
            }
        });
        Self { ready }
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = Peer;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(greeted) => greeted,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(Peer::Unknown)
    }
}

impl Connected<IncomingStream<'_, TlsListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TlsListener>) -> Self {
        stream.remote_addr().clone()
    }
}
