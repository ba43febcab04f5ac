//! The key that logs are sent with, and the request to sign it.
//!
//! What a reader would get wrong: the key exists only here. Store it, sealed, before the request is sent;
//! a certificate whose key is lost is worth nothing.

use rcgen::{CertificateParams, DnType, KeyPair, PKCS_RSA_SHA256, RsaKeySize};
use secrecy::SecretString;

use super::COMPONENT;
use crate::error::{Error, Kind};

/// A key and the request to sign it.
#[derive(Debug, Clone)]
pub struct CertificateRequest {
    /// The request, as PEM.
    pub csr: String,
    /// The key, as PEM.
    pub key: SecretString,
}

impl CertificateRequest {
    /// A fresh key, 2048 bits of RSA, for the agent that sends the logs of a global account. `unit` is a
    /// random id. Takes some tenths of a second of computing: call it where that may block.
    pub fn new(global_account: &str, unit: &str) -> Result<Self, Error> {
        let made = || {
            let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048)?;
            let mut params = CertificateParams::default();
            params.distinguished_name = rcgen::DistinguishedName::new();
            params.distinguished_name.push(DnType::CommonName, "fluentbit");
            params.distinguished_name.push(DnType::OrganizationName, global_account);
            params.distinguished_name.push(DnType::OrganizationalUnitName, unit);
            let csr = params.serialize_request(&key)?.pem()?;
            Ok(Self { csr, key: key.serialize_pem().into() })
        };
        made().map_err(|error: rcgen::Error| {
            let doing = "making a key for sending logs";
            Error::below(COMPONENT, Kind::Refused { status: 400 }, doing, error)
        })
    }
}

/// Whether a text looks like a certificate.
pub(super) fn is_certificate(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("-----BEGIN CERTIFICATE-----") && text.ends_with("-----END CERTIFICATE-----")
}
