//! The certificate that a listener shows, and those that clients may show.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use rustls::{
    RootCertStore, ServerConfig, ServerConnection,
    crypto::{CryptoProvider, aws_lc_rs::default_provider},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
};
use tokio_rustls::TlsAcceptor;
use webpki::EndEntityCert;

/// Reads a certificate with its chain, its key, and the authorities of client certificates: PEM files.
pub(crate) fn acceptor(
    certificate: &Path,
    key: &Path,
    authorities: Option<&Path>,
) -> anyhow::Result<TlsAcceptor> {
    let chain = certificates("transport.certificate", certificate)?;
    let private = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("transport.key: {}", key.display()))?;
    let provider = Arc::new(default_provider());
    let clients = match authorities {
        Some(authorities) => verifier(authorities, provider.clone())?,
        None => WebPkiClientVerifier::no_client_auth(),
    };
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("TLS is not available")?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, private)
        .context("transport.certificate and transport.key do not fit together")?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(
    setting: &'static str,
    file: &Path,
) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect)
        .with_context(|| format!("{setting}: {}", file.display()))
}

/// Accepts certificates that these have signed. A client need not have one: most come with a token.
fn verifier(
    authorities: &Path,
    provider: Arc<CryptoProvider>,
) -> anyhow::Result<Arc<dyn ClientCertVerifier>> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates("transport.client_authorities", authorities)? {
        roots.add(certificate).context("transport.client_authorities")?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .allow_unauthenticated()
        .build()
        .context("transport.client_authorities")
}

/// The DNS names and URIs of the certificate that a client has proved to own.
pub(super) fn client_names(connection: &ServerConnection) -> Vec<String> {
    let own = connection.peer_certificates().and_then(|chain| chain.first());
    let Some(own) = own.and_then(|own| EndEntityCert::try_from(own).ok()) else {
        return Vec::new();
    };
    own.valid_dns_names().chain(own.valid_uri_names()).map(str::to_owned).collect()
}
