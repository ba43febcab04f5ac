//! An OIDC issuer over HTTP: discovery, keys, and tokens for machines and people.
//!
//! What a reader would get wrong: nothing here is a shortcut into the broker. The broker trusts this
//! issuer by its URL only, exactly as it trusts a real one.

mod claims;
mod credentials;
mod discovery;
mod error;
mod grants;
mod key;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    routing::{get, post},
};
use base::Clock;
use secrecy::SecretString;

pub use claims::Claims;
pub use key::{KeyError, SigningKey};

/// How long a token stays valid unless told otherwise.
pub const ONE_DAY: Duration = Duration::from_hours(24);

/// Who the issuer is and whom it knows.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address under which it is reached; also the `iss` of its tokens.
    pub url: String,
    /// Whom the tokens are for.
    pub audience: Vec<String>,
    /// How long they stay valid.
    pub lifetime: Duration,
    /// The machines it knows.
    pub clients: Vec<Client>,
    /// The people it knows.
    pub users: Vec<User>,
}

/// A registered client.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// Its secret; `None` for a public client, which says only who it is.
    pub secret: Option<SecretString>,
    /// What it may ask for.
    pub grants: Vec<Grant>,
    /// The scopes its tokens may carry.
    pub scopes: Vec<String>,
}

/// A person.
#[derive(Debug, Clone)]
pub struct User {
    /// The name to log in with.
    pub name: String,
    /// The password to log in with.
    pub password: SecretString,
    /// The scopes that person's tokens may carry, as far as the client may ask for them.
    pub scopes: Vec<String>,
    /// The groups that person is in.
    pub groups: Vec<String>,
}

/// A way to get a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// A machine speaks for itself.
    ClientCredentials,
    /// A client speaks for a person whose password it was given.
    Password,
}

/// A running issuer.
#[derive(Debug)]
pub struct Issuer {
    settings: Settings,
    key: SigningKey,
    clock: Clock,
}

impl Issuer {
    /// An issuer that signs with `key`.
    pub fn new(settings: Settings, key: SigningKey, clock: Clock) -> Self {
        Self { settings, key, clock }
    }

    /// The address under which it is reached.
    pub fn url(&self) -> &str {
        &self.settings.url
    }
}

/// The issuer's routes.
pub fn router(issuer: Arc<Issuer>) -> Router {
    Router::new()
        .route("/.well-known/openid-configuration", get(discovery::document))
        .route("/.well-known/jwks.json", get(discovery::keys))
        .route("/oauth2/certs", get(discovery::keys))
        .route("/oauth2/token", post(grants::token))
        .route("/oauth/token", post(grants::token))
        .route("/{tenant}/oauth2/token", post(grants::token))
        .with_state(issuer)
}
