//! The authority that signs certificates for sending logs.

use std::time::Duration;

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, Error, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use serde::{Deserialize, Serialize};

use super::csr::Request;

const TEN_YEARS: Duration = Duration::from_hours(10 * 365 * 24);
const ONE_YEAR: Duration = Duration::from_hours(365 * 24);

/// A key and the certificate that people trust, as PEM.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Authority {
    key: String,
    pub(super) certificate: String,
}

impl Authority {
    pub(super) fn new(now: Timestamp) -> Result<Self, Error> {
        let key = KeyPair::generate()?;
        let certificate = params(now, TEN_YEARS).self_signed(&key)?;
        Ok(Self { key: key.serialize_pem(), certificate: certificate.pem() })
    }

    /// A certificate for the key and the name in a request, as PEM.
    pub(super) fn sign(&self, request: &Request, now: Timestamp) -> Result<String, Error> {
        let issuer = Issuer::new(params(now, TEN_YEARS), KeyPair::from_pem(&self.key)?);
        let mut wanted = params(now, ONE_YEAR);
        wanted.is_ca = IsCa::NoCa;
        wanted.distinguished_name = DistinguishedName::new();
        wanted.distinguished_name.push(DnType::CommonName, request.name.as_str());
        Ok(wanted.signed_by(request, &issuer)?.pem())
    }
}

fn params(now: Timestamp, lifetime: Duration) -> CertificateParams {
    let since = Duration::from_secs(u64::try_from(now.as_second()).unwrap_or(0));
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "kcp logging CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.not_before = date_time_ymd(1970, 1, 1) + since;
    params.not_after = params.not_before + lifetime;
    params
}
