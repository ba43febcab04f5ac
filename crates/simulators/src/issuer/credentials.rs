//! The client that asks for a token, by Basic header or by form fields.
//!
//! What a reader would get wrong: common OAuth libraries escape id and secret before they go into the
//! Basic header, others do not. Both spellings are understood.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::http::{HeaderMap, header::AUTHORIZATION};
use base64::{Engine, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretString};
use url::form_urlencoded;

use super::{
    Issuer,
    error::TokenError,
    grants::Fields,
    records::digest_of,
    registered_clients::{Person, RegisteredClient},
};

/// An id and a secret as they came in.
struct PresentedCredentials {
    id: String,
    secret: SecretString,
}

/// Finds the client that sent a request.
pub(super) fn client(
    issuer: &Issuer,
    headers: &HeaderMap,
    fields: &Fields,
) -> Result<RegisteredClient, TokenError> {
    for presented in presented(headers, fields)? {
        if let Some(client) = issuer.client(&presented.id)
            && fits(&client, &presented.secret)
        {
            return Ok(client);
        }
    }
    Err(TokenError::InvalidClient { basic: headers.contains_key(AUTHORIZATION) })
}

/// Finds the person whose name and password were sent.
pub(super) fn person(issuer: &Issuer, fields: &Fields) -> Result<Person, TokenError> {
    let name = fields.required("username")?;
    let password = fields.required("password")?;
    let found = issuer.person(name).filter(|person| same(&person.password, password));
    found.ok_or(TokenError::InvalidGrant("the name or the password is wrong"))
}

fn presented(
    headers: &HeaderMap,
    fields: &Fields,
) -> Result<Vec<PresentedCredentials>, TokenError> {
    let in_form = fields.get("client_id");
    let Some(header) = headers.get(AUTHORIZATION) else {
        let id = in_form.ok_or(TokenError::InvalidClient { basic: false })?;
        let secret = fields.get("client_secret").unwrap_or_default();
        return Ok(vec![PresentedCredentials { id: id.into(), secret: secret.into() }]);
    };
    if fields.get("client_secret").is_some() {
        return Err(TokenError::InvalidRequest(
            "only one way to authenticate the client may be used",
        ));
    }
    let (id, secret) = basic(header.as_bytes()).ok_or(TokenError::InvalidClient { basic: true })?;
    let plain = PresentedCredentials { id: id.clone(), secret: secret.clone().into() };
    let unescaped = PresentedCredentials { id: unescape(&id), secret: unescape(&secret).into() };
    Ok(vec![unescaped, plain])
}

fn basic(header: &[u8]) -> Option<(String, String)> {
    let header = std::str::from_utf8(header).ok()?;
    let (scheme, value) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(value.trim()).ok()?).ok()?;
    let (id, secret) = decoded.split_once(':')?;
    Some((id.to_owned(), secret.to_owned()))
}

fn unescape(text: &str) -> String {
    let one_pair = text.replace('&', "%26").replace('=', "%3D");
    form_urlencoded::parse(one_pair.as_bytes())
        .next()
        .map(|(text, _)| text.into_owned())
        .unwrap_or_default()
}

fn fits(client: &RegisteredClient, presented: &SecretString) -> bool {
    match &client.secret {
        Some(secret) => same(secret, presented.expose_secret()),
        None => presented.expose_secret().is_empty(),
    }
}

/// Whether a text is the one whose digest is kept.
fn same(digest: &str, presented: &str) -> bool {
    verify_slices_are_equal(digest.as_bytes(), digest_of(presented).as_bytes()).is_ok()
}
