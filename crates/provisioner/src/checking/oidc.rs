//! Rules for who vouches for a cluster's users.

use std::fmt;

use super::must;
use crate::{Error, configuration::Oidc};

/// How an issuer may sign, as Kubernetes knows it.
const ALGORITHMS: &[&str] =
    &["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"];

/// Refuses an issuer that tokens cannot be checked with. Clients name the one that there is with every change: what was accepted under
/// the rules of its time is no reason to refuse another change.
pub(super) fn check(oidc: &Oidc, stored: Option<&Oidc>, at: &str) -> Result<(), Error> {
    if stored == Some(oidc) {
        return Ok(());
    }
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
    if stored.is_none_or(|stored| stored.issuer_url != oidc.issuer_url) {
        address(&oidc.issuer_url, format_args!("{at}.issuerURL"))?;
    }
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

/// Refuses an address that no kube-apiserver takes for an issuer.
fn address(issuer: &str, at: fmt::Arguments<'_>) -> Result<(), Error> {
    let (scheme, rest) = issuer.split_once("://").unwrap_or_default();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let (path, fragment) = path.split_once('#').unwrap_or((path, ""));
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let is_https = scheme.eq_ignore_ascii_case("https") && !host.is_empty();
    must(is_https, at, "must begin with https://")?;
    must(!issuer.contains(char::is_whitespace), at, "must not contain white space")?;
    must(!host.contains('@'), at, "must not contain a username or password")?;
    must(query.is_empty(), at, "must not contain a query")?;
    must(fragment.is_empty(), at, "must not contain a fragment")
}
