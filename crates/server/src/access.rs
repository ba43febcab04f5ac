//! Whose tokens open doors.

use std::sync::Arc;

use api::{Trusted, Verifier};
use base::Clock;

/// Checks tokens of these issuers that are for `audience`; the issuers' keys are found by discovery.
pub(crate) fn verifier<'a>(
    issuers: impl IntoIterator<Item = &'a String>,
    audience: &str,
    clock: &Clock,
) -> anyhow::Result<Arc<Verifier>> {
    let trusted = issuers.into_iter().map(|issuer| Trusted {
        issuer: issuer.clone(),
        audiences: vec![audience.to_owned()],
        keys: None,
    });
    Ok(Arc::new(Verifier::new(trusted.collect(), clock.clone())?))
}
