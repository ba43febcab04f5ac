//! Rules for who vouches for a cluster's users.

use super::must;
use crate::{Error, configuration::Oidc};

/// How an issuer may sign, as Kubernetes knows it.
const ALGORITHMS: &[&str] =
    &["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"];

pub(super) fn check(oidc: &Oidc, at: &str) -> Result<(), Error> {
    let texts = [
        ("clientID", &oidc.client_id),
        ("groupsClaim", &oidc.groups_claim),
        ("issuerURL", &oidc.issuer_url),
        ("usernameClaim", &oidc.username_claim),
        ("usernamePrefix", &oidc.username_prefix),
    ];
    for (name, text) in texts {
        must(!text.trim().is_empty(), format_args!("{at}.{name}"), "must not be empty")?;
    }
    must(is_https(&oidc.issuer_url), format_args!("{at}.issuerURL"), "must begin with https://")?;
    must(!oidc.signing_algs.is_empty(), format_args!("{at}.signingAlgs"), "must not be empty")?;
    for algorithm in &oidc.signing_algs {
        must(
            ALGORITHMS.contains(&algorithm.as_str()),
            format_args!("{at}.signingAlgs"),
            format_args!("must be of {}, not {algorithm:?}", ALGORITHMS.join(", ")),
        )?;
    }
    Ok(())
}

/// With a host behind it.
fn is_https(url: &str) -> bool {
    url.strip_prefix("https://").is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}
