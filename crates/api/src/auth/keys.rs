//! An issuer's public keys: fetched, kept, refreshed rarely, used for a while when the issuer is down.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use base::{Clock, failure::chain};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use super::{
    Trusted,
    key::{Key, usable},
};

/// Keys younger than this are used without asking.
const FRESH: SignedDuration = SignedDuration::from_mins(10);
/// Keys older than this are not used, even when the issuer cannot be reached.
const OLDEST: SignedDuration = SignedDuration::from_hours(2);
/// Whatever tokens come, the issuer is asked at most this often …
const PAUSE: SignedDuration = SignedDuration::from_mins(1);
/// … unless there is nothing to go on with.
const SHORT_PAUSE: SignedDuration = SignedDuration::from_secs(5);
/// The largest document that is read.
const LARGEST: usize = 512 * 1024;

/// The keys of one issuer.
pub(super) struct Keys {
    issuer: String,
    address: Option<Url>,
    http: reqwest::Client,
    clock: Clock,
    kept: RwLock<Option<Arc<Kept>>>,
    asked_at: Mutex<Option<Timestamp>>,
}

struct Kept {
    keys: HashMap<String, Key>,
    at: Timestamp,
}

/// Why there is no key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoKey {
    /// The issuer has no such key.
    Unknown,
    /// The issuer cannot be asked, and what is kept is too old.
    Unavailable,
}

/// A document that could not be had.
#[derive(Debug, thiserror::Error)]
enum Fetch {
    #[error("the issuer cannot be reached")]
    Transport(#[from] reqwest::Error),
    #[error("the issuer's document is too large")]
    TooLarge,
    #[error("the issuer's document is not JSON")]
    Json(#[from] serde_json::Error),
    #[error("the issuer's document is not what it should be: {0}")]
    Content(&'static str),
}

/// The client that fetches keys. It follows nobody elsewhere.
pub(super) fn client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(3))
        .timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none())
        .build()
}

impl Keys {
    pub(super) fn new(trusted: &Trusted, http: reqwest::Client, clock: Clock) -> Self {
        Self {
            issuer: trusted.issuer.clone(),
            address: trusted.keys.clone(),
            http,
            clock,
            kept: RwLock::default(),
            asked_at: Mutex::default(),
        }
    }

    /// The key with this id.
    pub(super) async fn find(&self, id: &str) -> Result<Key, NoKey> {
        if let Some(kept) = self.younger_than(FRESH)
            && let Some(key) = kept.keys.get(id)
        {
            return Ok(key.clone());
        }
        let known = self.younger_than(OLDEST).and_then(|kept| kept.keys.get(id).cloned());
        match known {
            // Somebody else is asking already: this request need not wait for that.
            Some(key) => {
                let Ok(asked_at) = self.asked_at.try_lock() else { return Ok(key) };
                self.refresh(asked_at).await;
            }
            None => self.refresh(self.asked_at.lock().await).await,
        }
        let kept = self.younger_than(OLDEST).ok_or(NoKey::Unavailable)?;
        kept.keys.get(id).cloned().ok_or(NoKey::Unknown)
    }

    async fn refresh(&self, mut asked_at: tokio::sync::MutexGuard<'_, Option<Timestamp>>) {
        let now = self.clock.now();
        let pause = if self.younger_than(OLDEST).is_some() { PAUSE } else { SHORT_PAUSE };
        if asked_at.is_some_and(|at| now.duration_since(at) < pause) {
            return;
        }
        *asked_at = Some(now);
        match self.fetch().await {
            Ok(keys) => {
                let kept = Some(Arc::new(Kept { keys, at: now }));
                *self.kept.write().unwrap_or_else(PoisonError::into_inner) = kept;
            }
            Err(error) => tracing::warn!(
                issuer = self.issuer,
                error = chain(&error),
                "the keys of {} cannot be fetched",
                self.issuer
            ),
        }
    }

    fn younger_than(&self, age: SignedDuration) -> Option<Arc<Kept>> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        (self.clock.now().duration_since(kept.at) < age).then_some(kept)
    }

    async fn fetch(&self) -> Result<HashMap<String, Key>, Fetch> {
        let address = match &self.address {
            Some(address) => address.clone(),
            None => self.discover().await?,
        };
        let keys = usable(&self.document(address.as_str()).await?);
        if keys.is_empty() { Err(Fetch::Content("no usable key")) } else { Ok(keys) }
    }

    async fn discover(&self) -> Result<Url, Fetch> {
        let issuer = self.issuer.trim_end_matches('/');
        let document = self.document(&format!("{issuer}/.well-known/openid-configuration")).await?;
        if document.get("issuer").and_then(Value::as_str) != Some(&self.issuer) {
            return Err(Fetch::Content("it names another issuer"));
        }
        document
            .get("jwks_uri")
            .and_then(Value::as_str)
            .and_then(|address| Url::parse(address).ok())
            .ok_or(Fetch::Content("it names no key set"))
    }

    async fn document(&self, address: &str) -> Result<Value, Fetch> {
        let mut response = self.http.get(address).send().await?.error_for_status()?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > LARGEST {
                return Err(Fetch::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(serde_json::from_slice(&body)?)
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}
