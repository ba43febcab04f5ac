//! Whose tokens open doors.

use std::sync::Arc;

use anyhow::{Context, ensure};
use api::{Trusted, Verifier};
use base::{Clock, PlaintextHosts};
use url::Url;

/// Checks tokens of these issuers that are for `audience`; the issuers' keys are found by discovery.
pub(crate) fn verifier<'a>(
    issuers: impl IntoIterator<Item = &'a String>,
    audience: &str,
    plaintext: &PlaintextHosts,
    clock: &Clock,
) -> anyhow::Result<Arc<Verifier>> {
    let trusted = issuers.into_iter().map(|issuer| {
        check_issuer(issuer, plaintext)?;
        Ok(Trusted {
            issuer: issuer.clone(),
            audiences: vec![audience.to_owned()],
            keys: None,
            plaintext: plaintext.clone(),
        })
    });
    let trusted = trusted.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Arc::new(Verifier::new(trusted, clock.clone())?))
}

/// Whoever is on the way to an issuer without TLS could choose its keys.
pub(crate) fn check_issuer(issuer: &str, plaintext: &PlaintextHosts) -> anyhow::Result<()> {
    let url =
        Url::parse(issuer).with_context(|| format!("access.issuers: {issuer} is no address"))?;
    ensure!(
        plaintext.allow(&url),
        "access.issuers: {issuer} would be asked for its keys without TLS; use https, or name the host in \
         transport.plaintext_hosts"
    );
    Ok(())
}
