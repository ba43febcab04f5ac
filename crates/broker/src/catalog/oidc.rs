//! Whether an issuer is complete and well formed.

use domain::parameters::{Oidc, SIGNING_ALGORITHMS};
use url::Url;

use super::{Refusal, Rule};

/// Refuses an issuer that tokens could not be checked with. An object of empty fields is no issuer.
pub(super) fn check(oidc: Option<&Oidc>) -> Result<(), Refusal> {
    let Some(oidc) = oidc.filter(|oidc| oidc.is_provided()) else { return Ok(()) };
    let mut problems: Vec<(&str, &str)> = vec![];
    if oidc.client_id.is_empty() {
        problems.push(("clientID", "clientID must not be empty"));
    }
    if oidc.issuer_url.is_empty() {
        problems.push(("issuerURL", "issuerURL must not be empty"));
    } else {
        let url = Url::parse(&oidc.issuer_url).ok();
        if !url.as_ref().is_some_and(Url::has_host) {
            problems.push(("issuerURL", "issuerURL must be a valid URL"));
        }
        let scheme = oidc.issuer_url.split_once(':').map_or("", |(scheme, _)| scheme);
        if !scheme.eq_ignore_ascii_case("https") {
            problems.push(("issuerURL", "issuerURL must have https scheme"));
        }
    }
    if oidc.signing_algs.iter().any(|algorithm| !SIGNING_ALGORITHMS.contains(&algorithm.as_str())) {
        problems.push(("signingAlgs", "signingAlgs must contain valid signing algorithm(s)"));
    }
    if problems.is_empty() {
        return Ok(());
    }
    let mut fields: Vec<String> =
        problems.iter().map(|(field, _)| format!("/oidc/{field}")).collect();
    fields.dedup();
    let texts: Vec<&str> = problems.iter().map(|(_, text)| *text).collect();
    Err(Refusal { rule: Rule::Oidc, fields, description: texts.join(", ") })
}
