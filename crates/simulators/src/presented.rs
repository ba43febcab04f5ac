//! Credentials that a caller presents.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::http::{HeaderMap, header::AUTHORIZATION};
use base64::{Engine, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretString};

/// A bearer token.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    scheme(headers, "bearer")
}

/// A name and a password.
pub(crate) fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let decoded = BASE64_STANDARD.decode(scheme(headers, "basic")?).ok()?;
    let (name, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

/// Whether a secret was presented. Takes the same time wherever the first difference is.
pub(crate) fn same(expected: &SecretString, presented: &str) -> bool {
    verify_slices_are_equal(expected.expose_secret().as_bytes(), presented.as_bytes()).is_ok()
}

fn scheme<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let (scheme, rest) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(wanted).then(|| rest.trim())
}
