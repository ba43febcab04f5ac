//! The door for platforms that know nothing but a user and a password.
//!
//! What a reader would get wrong: every pair that is configured is compared, and each to its end, so that the time it
//! takes tells nothing about how much of a guess was right.

use std::{fmt, hint::black_box, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{
        HeaderValue,
        header::{AUTHORIZATION, WWW_AUTHENTICATE},
    },
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use base::Clock;
use base64::{Engine, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretString};

use super::guesses::{Guesses, peer};
use crate::{
    audit,
    error::{Error, Problem},
};

/// A user, its password, and for whom it may speak.
#[derive(Clone)]
pub struct Credentials {
    /// The user.
    pub user: String,
    /// The password.
    pub password: SecretString,
    /// The only tenant it may speak for; none when it may speak for any.
    pub tenant: Option<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A platform that has shown its password.
#[derive(Debug, Clone)]
pub(crate) struct Platform {
    pub(crate) user: String,
    pub(crate) tenant: Option<String>,
}

/// Lets a request through only with a user and a password that are known.
#[derive(Clone)]
pub struct RequireBasic {
    known: Arc<Vec<Credentials>>,
    guesses: Arc<Guesses>,
}

impl RequireBasic {
    /// A door that opens with any of these. Nothing opens it when there are none.
    pub fn new(known: Vec<Credentials>, clock: Clock) -> Self {
        Self { known: Arc::new(known), guesses: Arc::new(Guesses::new(clock)) }
    }

    /// Puts the door in front of these routes. Paths that none of them serves stay outside.
    pub fn around<S: Clone + Send + Sync + 'static>(self, routes: Router<S>) -> Router<S> {
        routes.route_layer(from_fn_with_state(self, check))
    }

    fn platform(&self, request: &Request) -> Option<Platform> {
        let (user, password) = presented(request)?;
        self.known.iter().fold(None, |found, known| {
            let right = same(&known.user, &user) & same(known.password.expose_secret(), &password);
            found
                .or(right
                    .then(|| Platform { user: known.user.clone(), tenant: known.tenant.clone() }))
        })
    }
}

async fn check(State(door): State<RequireBasic>, mut request: Request, next: Next) -> Response {
    let peer = peer(&request);
    if !door.guesses.may_try(peer) {
        tracing::info!(%peer, "too many wrong passwords from one address");
        return Error::TooMany.into_response();
    }
    let Some(platform) = door.platform(&request) else {
        if request.headers().contains_key(AUTHORIZATION) {
            door.guesses.wrong(peer).await;
        }
        tracing::info!("a user and password were not accepted");
        let mut response = Error::Unauthorized.into_response();
        let scheme = HeaderValue::from_static("Basic realm=\"kcp\", charset=\"UTF-8\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        let description = "a valid user and password are needed".into();
        response.extensions_mut().insert(Problem { code: "unauthorized", description });
        return response;
    };
    request.extensions_mut().insert(platform);
    audit::around(request, next).await
}

/// User and password of a request with exactly one `Authorization` header.
fn presented(request: &Request) -> Option<(String, String)> {
    let mut headers = request.headers().get_all(AUTHORIZATION).iter();
    let (only, none) = (headers.next()?, headers.next());
    if none.is_some() {
        return None;
    }
    let (scheme, encoded) = only.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// Whether two texts are the same, in a time that depends on their lengths alone. An empty one is never right.
fn same(known: &str, given: &str) -> bool {
    let different = known.bytes().zip(given.bytes()).fold(0, |so_far, (a, b)| so_far | (a ^ b));
    !known.is_empty() && known.len() == given.len() && black_box(different) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_text_is_the_same() {
        assert!(same("secret", "secret"));
        for given in ["", "secre", "secret1", "Secret"] {
            assert!(!same("secret", given), "{given}");
        }
        assert!(!same("", ""));
    }
}
