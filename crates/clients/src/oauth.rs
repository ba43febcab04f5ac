//! Access tokens: fetched when first needed, kept, renewed before they run out, one renewal at a time.

use std::{sync::Arc, time::Duration};

use base::Clock;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::sync::Mutex;
use url::Url;

use crate::{
    error::{Component, Error, Kind},
    http::{Http, Limits},
};

const DOING: &str = "getting a token";
/// A token is renewed this long before it runs out, so that it does not run out on its way.
const EARLY: Duration = Duration::from_secs(30);
/// Issuers that do not say how long a token lives get asked again after this time.
const UNSAID: Duration = Duration::from_mins(5);

/// How a token is asked for.
#[derive(Debug, Clone)]
pub enum Grant {
    /// A machine speaks for itself.
    ClientCredentials {
        /// The client's id.
        id: String,
        /// The client's secret.
        secret: SecretString,
        /// What is asked for; empty: all that is allowed.
        scope: String,
    },
    /// A public client speaks for a person.
    Password {
        /// The client's id.
        client: String,
        /// The person's name.
        user: String,
        /// The person's password.
        password: SecretString,
    },
}

/// Gives tokens.
#[derive(Debug)]
pub struct TokenSource {
    http: Http,
    grant: Grant,
    clock: Clock,
    kept: Mutex<Option<Kept>>,
}

#[derive(Debug)]
struct Kept {
    token: SecretString,
    renew_at: Timestamp,
}

#[derive(Deserialize)]
struct Issued {
    access_token: SecretString,
    expires_in: Option<Seconds>,
}

/// Some issuers write the number as a string.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(u64),
    Text(String),
}

impl TokenSource {
    /// Tokens from `endpoint`.
    pub fn new(endpoint: Url, grant: Grant, clock: Clock) -> Result<Arc<Self>, Error> {
        let http =
            Http::new(Component::ISSUER, endpoint, Limits { body: 64 * 1024, ..Limits::DEFAULT })?;
        Ok(Arc::new(Self { http, grant, clock, kept: Mutex::default() }))
    }

    /// Begins with a token that is known already.
    #[must_use]
    pub fn starting_with(self: Arc<Self>, token: SecretString, until: Timestamp) -> Arc<Self> {
        if let Ok(mut kept) = self.kept.try_lock() {
            *kept = Some(Kept { token, renew_at: until - EARLY });
        }
        self
    }

    /// A token that is valid for a while. Whoever comes while one is being fetched waits for that one.
    pub async fn token(&self) -> Result<SecretString, Error> {
        let mut kept = self.kept.lock().await;
        let now = self.clock.now();
        if let Some(kept) = kept.as_ref().filter(|kept| now < kept.renew_at) {
            return Ok(kept.token.clone());
        }
        let issued = self.fetch().await?;
        let token = issued.access_token.clone();
        *kept = Some(Kept { renew_at: now + issued.keep_for(), token: issued.access_token });
        Ok(token)
    }

    async fn fetch(&self) -> Result<Issued, Error> {
        let request = self.http.post("");
        let request = match &self.grant {
            Grant::ClientCredentials { id, secret, scope } => {
                let mut form = vec![("grant_type", "client_credentials")];
                if !scope.is_empty() {
                    form.push(("scope", scope));
                }
                request.basic_auth(id, Some(secret.expose_secret())).form(&form)
            }
            Grant::Password { client, user, password } => request.form(&[
                ("grant_type", "password"),
                ("client_id", client),
                ("username", user),
                ("password", password.expose_secret()),
            ]),
        };
        let issued: Issued = self.http.uncounted(DOING, request).await?.json()?;
        if issued.access_token.expose_secret().is_empty() {
            return Err(Error::new(Component::ISSUER, Kind::Malformed, DOING));
        }
        Ok(issued)
    }
}

impl Issued {
    fn keep_for(&self) -> Duration {
        let lifetime = match &self.expires_in {
            Some(Seconds::Number(seconds)) => Duration::from_secs(*seconds),
            Some(Seconds::Text(text)) => text.parse().map_or(UNSAID, Duration::from_secs),
            None => UNSAID,
        };
        // A token that lives less than a minute is renewed at half its life.
        lifetime.saturating_sub(EARLY.min(lifetime / 2))
    }
}
