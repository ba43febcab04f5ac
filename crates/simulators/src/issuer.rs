//! An OIDC issuer over HTTP: discovery, keys, and tokens for machines and people.
//!
//! What a reader would get wrong: nothing here is a shortcut into the broker. The broker trusts this
//! issuer by its URL only, exactly as it trusts a real one.

mod authorize;
mod claims;
mod control;
mod credentials;
mod device;
mod discovery;
mod error;
mod grants;
mod key;
mod pages;
mod records;
mod registered_clients;
mod verify;

use std::{
    path::Path,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use axum::{
    Router,
    routing::{get, post},
};
use base::Clock;
use secrecy::SecretString;

use crate::store::{self, Store};
use records::{Event, Records};

pub use claims::Claims;
pub use key::{KeyError, SigningKey};
pub use verify::{TokenSubject, Unverified};

/// How long a token stays valid by default.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// A machine speaks for itself.
    ClientCredentials,
    /// A client speaks for a person whose password it was given.
    Password,
    /// A person logs in on the issuer's page and is sent back with a code.
    AuthorizationCode,
    /// A person logs in on the issuer's page for a program elsewhere.
    #[serde(rename = "device_code")]
    Device,
    /// A client goes on speaking for a person who logged in earlier.
    #[serde(rename = "refresh_token")]
    Refresh,
}

/// An issuer that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// What it knows cannot be read or kept.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A key cannot be read or made.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// A running issuer.
#[derive(Debug)]
pub struct Issuer {
    settings: Settings,
    /// Oldest first; the last one signs.
    keys: RwLock<Vec<Arc<SigningKey>>>,
    known: Store<Records>,
    clock: Clock,
}

impl Issuer {
    /// An issuer that signs with `key` and forgets who logged in when it ends.
    pub fn new(settings: Settings, key: SigningKey, clock: Clock) -> Self {
        let keys = RwLock::new(vec![Arc::new(key)]);
        Self { settings, keys, known: Store::in_memory(), clock }
    }

    /// An issuer that keeps what it knows in `path`. Its first key is `key`.
    pub fn open(
        settings: Settings,
        key: SigningKey,
        path: &Path,
        clock: Clock,
    ) -> Result<Self, OpenError> {
        let known: Store<Records> = Store::open(path)?;
        let mut keys = vec![Arc::new(key)];
        for pem in known.read(|known| known.keys.clone()) {
            keys.push(Arc::new(SigningKey::from_pem(&pem)?));
        }
        Ok(Self { settings, keys: RwLock::new(keys), known, clock })
    }

    /// The address under which it is reached.
    pub fn url(&self) -> &str {
        &self.settings.url
    }

    /// Signs with a new key from now on. Old tokens stay good, unless the old keys are withdrawn.
    pub fn rotate_keys(&self, withdraw: bool) -> Result<(), OpenError> {
        let pem = key::new_pem()?;
        let key = Arc::new(SigningKey::from_pem(&pem)?);
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        self.known.settle(|_| vec![Event::KeyMade { pem, withdraw }])?;
        keys.push(key);
        Ok(())
    }

    /// Ends every token: they no longer verify, here or elsewhere, and cannot be renewed.
    pub fn expire_tokens(&self) -> Result<(), OpenError> {
        self.rotate_keys(true)?;
        let at = self.clock.now();
        Ok(self.known.settle(|_| vec![Event::TokensExpired { at }])?)
    }

    /// Gives new tokens another lifetime; zero makes them expire at once, `None` is the usual one.
    pub fn set_lifetime(&self, seconds: Option<u64>) -> Result<(), OpenError> {
        Ok(self.known.settle(|_| vec![Event::LifetimeSet { seconds }])?)
    }

    /// Makes new tokens for another audience; `None` is the usual one.
    pub fn set_audience(&self, audience: Option<Vec<String>>) -> Result<(), OpenError> {
        Ok(self.known.settle(|_| vec![Event::AudienceSet { audience }])?)
    }

    fn lifetime(&self) -> Duration {
        let chosen = self.known.read(|known| known.lifetime_seconds);
        chosen.map_or(self.settings.lifetime, Duration::from_secs)
    }

    fn signing_key(&self) -> Arc<SigningKey> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.last().expect("the first key is never taken away").clone()
    }

    /// The keys whose tokens are good, newest first.
    fn published(&self) -> Vec<Arc<SigningKey>> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let withdrawn = self.known.read(|known| known.withdrawn);
        keys.iter().skip(withdrawn).rev().cloned().collect()
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
        .route("/oauth2/authorize", get(authorize::page).post(authorize::login))
        .route("/oauth2/device_authorization", post(device::ask))
        .route("/device", get(device::page).post(device::decide))
        .with_state(issuer)
}
