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
        problems.extend(address(&oidc.issuer_url).map(|text| ("issuerURL", text)));
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

/// What a kube-apiserver would refuse about the address of an issuer.
fn address(issuer: &str) -> impl Iterator<Item = &'static str> {
    let url = Url::parse(issuer).ok();
    let (scheme, rest) = issuer.split_once(':').unwrap_or(("", ""));
    // From the text: the parser forgets a user without a name, and finds a host behind any number of slashes.
    let authority = rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?', '#']).next());
    let authority = authority.unwrap_or_default();
    let is_url = url.as_ref().is_some_and(Url::has_host)
        && !authority.is_empty()
        && !issuer.contains(char::is_whitespace);
    let has = |part: Option<&str>| part.is_some_and(|part| !part.is_empty());
    let query = has(url.as_ref().and_then(Url::query));
    let fragment = has(url.as_ref().and_then(Url::fragment));
    [
        (!is_url, "issuerURL must be a valid URL"),
        (!scheme.eq_ignore_ascii_case("https"), "issuerURL must have https scheme"),
        (authority.contains('@'), "issuerURL must not contain a username or password"),
        (query, "issuerURL must not contain a query"),
        (fragment, "issuerURL must not contain a fragment"),
    ]
    .into_iter()
    .filter_map(|(is_wrong, text)| is_wrong.then_some(text))
}
