//! The certificate that a listener shows.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;

/// Reads a certificate, with those that lead to its issuer, and its key: files in PEM.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> anyhow::Result<TlsAcceptor> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .with_context(|| format!("transport.certificate: {}", certificate.display()))?;
    let private = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("transport.key: {}", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .context("TLS is not available")?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .context("transport.certificate and transport.key do not fit together")?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
