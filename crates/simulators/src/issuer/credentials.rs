//! Who asks for a token: a client, by Basic header or by form fields.
//!
//! What a reader would get wrong: common OAuth libraries escape id and secret before they go into the
//! Basic header, others do not. Both spellings are understood.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::http::{HeaderMap, header::AUTHORIZATION};
use base64::{Engine, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretString};
use url::form_urlencoded;

use super::{Client, Issuer, User, error::TokenError, grants::Fields};

/// An id and a secret as they came in.
struct Presented {
    id: String,
    secret: SecretString,
}

/// Finds the client that sent a request.
pub(super) fn client<'a>(
    issuer: &'a Issuer,
    headers: &HeaderMap,
    fields: &Fields,
) -> Result<&'a Client, TokenError> {
    for presented in presented(headers, fields)? {
        if let Some(client) =
            issuer.settings.clients.iter().find(|client| client.id == presented.id)
            && fits(client, &presented.secret)
        {
            return Ok(client);
        }
    }
    Err(TokenError::InvalidClient { basic: headers.contains_key(AUTHORIZATION) })
}

/// Finds the person whose name and password were sent.
pub(super) fn person<'a>(issuer: &'a Issuer, fields: &Fields) -> Result<&'a User, TokenError> {
    let name = fields.required("username")?;
    let password = fields.required("password")?;
    issuer
        .settings
        .users
        .iter()
        .find(|user| user.name == name && same(&user.password, password))
        .ok_or(TokenError::InvalidGrant("the name or the password is wrong"))
}

fn presented(headers: &HeaderMap, fields: &Fields) -> Result<Vec<Presented>, TokenError> {
    let in_form = fields.get("client_id");
    let Some(header) = headers.get(AUTHORIZATION) else {
        let id = in_form.ok_or(TokenError::InvalidClient { basic: false })?;
        let secret = fields.get("client_secret").unwrap_or_default();
        return Ok(vec![Presented { id: id.into(), secret: secret.into() }]);
    };
    if fields.get("client_secret").is_some() {
        return Err(TokenError::InvalidRequest(
            "only one way to authenticate the client may be used",
        ));
    }
    let (id, secret) = basic(header.as_bytes()).ok_or(TokenError::InvalidClient { basic: true })?;
    let plain = Presented { id: id.clone(), secret: secret.clone().into() };
    let unescaped = Presented { id: unescape(&id), secret: unescape(&secret).into() };
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

fn fits(client: &Client, presented: &SecretString) -> bool {
    match &client.secret {
        Some(secret) => same(secret, presented.expose_secret()),
        None => presented.expose_secret().is_empty(),
    }
}

fn same(expected: &SecretString, presented: &str) -> bool {
    verify_slices_are_equal(expected.expose_secret().as_bytes(), presented.as_bytes()).is_ok()
}
