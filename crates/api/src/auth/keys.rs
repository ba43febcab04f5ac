//! An issuer's public keys: fetched, kept, refreshed rarely, used for a while when the issuer is down.
//!
//! What a reader would get wrong: the fetch belongs to no request. It runs in a task of its own, all requests
//! that need it wait for the same one, and a client that hangs up meanwhile changes nothing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use base::{Clock, PlaintextHosts, failure::chain};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::watch;
use url::Url;

use super::{
    TrustedIssuer,
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
/// How long one fetch may take, discovery included.
const DEADLINE: Duration = Duration::from_secs(10);
/// The largest document that is read.
const LARGEST: usize = 512 * 1024;

/// The keys of one issuer.
pub(super) struct Keys(Arc<KeySource>);

/// Where the keys come from, and those that were fetched last.
struct KeySource {
    issuer: String,
    address: Option<Url>,
    plaintext: PlaintextHosts,
    http: reqwest::Client,
    clock: Clock,
    kept: RwLock<Option<Arc<CachedKeys>>>,
    fetching: Mutex<FetchState>,
}

struct CachedKeys {
    keys: HashMap<String, Key>,
    at: Timestamp,
}

#[derive(Default)]
struct FetchState {
    /// When the issuer was asked last: the end of the last fetch, or the start of the one that runs.
    asked_at: Option<Timestamp>,
    /// Closed when the fetch that runs has ended, however it ended.
    running: Option<watch::Receiver<()>>,
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
enum FetchError {
    #[error("the issuer cannot be reached")]
    Transport(#[from] reqwest::Error),
    #[error("the issuer did not answer within {} s", DEADLINE.as_secs())]
    Late,
    #[error("{0} is not asked for keys, because it is not https")]
    Plaintext(String),
    #[error("the issuer's document is too large")]
    TooLarge,
    #[error("the issuer's document is not JSON")]
    Json(#[from] serde_json::Error),
    #[error("the issuer's document is not what it should be: {0}")]
    Content(&'static str),
    #[error(
        "the discovery document names the issuer {found:?}, access.issuers {wanted:?}: the two must be spelled alike"
    )]
    Issuer { found: String, wanted: String },
}

/// The client that fetches keys. It follows nobody elsewhere.
pub(super) fn client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(3))
        .timeout(DEADLINE)
        .redirect(reqwest::redirect::Policy::none())
        .build()
}

impl Keys {
    pub(super) fn new(trusted: &TrustedIssuer, http: reqwest::Client, clock: Clock) -> Self {
        Self(Arc::new(KeySource {
            issuer: trusted.issuer.clone(),
            address: trusted.keys.clone(),
            plaintext: trusted.plaintext.clone(),
            http,
            clock,
            kept: RwLock::default(),
            fetching: Mutex::default(),
        }))
    }

    /// The key with this id.
    pub(super) async fn find(&self, id: &str) -> Result<Key, NoKey> {
        let source = &self.0;
        if let Some(kept) = source.younger_than(FRESH)
            && let Some(key) = kept.keys.get(id)
        {
            return Ok(key.clone());
        }
        let known = source.younger_than(OLDEST).and_then(|kept| kept.keys.get(id).cloned());
        match (source.fetching(), known) {
            (Fetch::Started(mut fetch) | Fetch::Running(mut fetch), None)
            | (Fetch::Started(mut fetch), Some(_)) => {
                // Nothing is ever sent: it only tells that the fetch has ended.
                let _ = fetch.changed().await;
            }
            // Another request waits for the new keys already: this one goes on with the old ones.
            (Fetch::Running(_) | Fetch::TooSoon, Some(key)) => return Ok(key),
            (Fetch::TooSoon, None) => {}
        }
        let kept = source.younger_than(OLDEST).ok_or(NoKey::Unavailable)?;
        kept.keys.get(id).cloned().ok_or(NoKey::Unknown)
    }
}

/// The fetch that a request may wait for.
enum Fetch {
    /// It was started for this request.
    Started(watch::Receiver<()>),
    /// It ran already.
    Running(watch::Receiver<()>),
    /// There is none: the issuer was asked a moment ago.
    TooSoon,
}

impl KeySource {
    /// Starts a fetch unless one runs or has just ended.
    fn fetching(self: &Arc<Self>) -> Fetch {
        let mut fetching = self.lock();
        if let Some(running) = &fetching.running {
            return Fetch::Running(running.clone());
        }
        let now = self.clock.now();
        let pause = if self.younger_than(OLDEST).is_some() { PAUSE } else { SHORT_PAUSE };
        if fetching.asked_at.is_some_and(|at| now.duration_since(at) < pause) {
            return Fetch::TooSoon;
        }
        let (end, running) = watch::channel(());
        *fetching = FetchState { asked_at: Some(now), running: Some(running.clone()) };
        drop(fetching);
        let fetch = RunningFetch { source: self.clone(), _end: end };
        tokio::spawn(async move {
            let fetch = fetch;
            fetch.source.refresh(now).await;
        });
        Fetch::Started(running)
    }

    async fn refresh(&self, now: Timestamp) {
        let fetched = tokio::time::timeout(DEADLINE, self.fetch()).await;
        match fetched.unwrap_or(Err(FetchError::Late)) {
            Ok(keys) => {
                let kept = Some(Arc::new(CachedKeys { keys, at: now }));
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

    fn lock(&self) -> std::sync::MutexGuard<'_, FetchState> {
        self.fetching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn younger_than(&self, age: SignedDuration) -> Option<Arc<CachedKeys>> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        (self.clock.now().duration_since(kept.at) < age).then_some(kept)
    }

    async fn fetch(&self) -> Result<HashMap<String, Key>, FetchError> {
        let address = match &self.address {
            Some(address) => address.clone(),
            None => self.discover().await?,
        };
        let keys = usable(&self.document(address.as_str()).await?);
        if keys.is_empty() { Err(FetchError::Content("no usable key")) } else { Ok(keys) }
    }

    async fn discover(&self) -> Result<Url, FetchError> {
        let issuer = self.issuer.trim_end_matches('/');
        let document = self.document(&format!("{issuer}/.well-known/openid-configuration")).await?;
        let found = document.get("issuer").and_then(Value::as_str).unwrap_or_default();
        if found != self.issuer {
            let (found, wanted) = (found.to_owned(), self.issuer.clone());
            return Err(FetchError::Issuer { found, wanted });
        }
        document
            .get("jwks_uri")
            .and_then(Value::as_str)
            .and_then(|address| Url::parse(address).ok())
            .ok_or(FetchError::Content("it names no key set"))
    }

    async fn document(&self, address: &str) -> Result<Value, FetchError> {
        let allowed = Url::parse(address).is_ok_and(|url| self.plaintext.allow(&url));
        if !allowed {
            return Err(FetchError::Plaintext(address.to_owned()));
        }
        let mut response = self.http.get(address).send().await?.error_for_status()?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > LARGEST {
                return Err(FetchError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(serde_json::from_slice(&body)?)
    }
}

/// A fetch under way. However it ends, the next one may begin after a pause, and waiting callers go on.
struct RunningFetch {
    source: Arc<KeySource>,
    _end: watch::Sender<()>,
}

impl Drop for RunningFetch {
    fn drop(&mut self) {
        let asked_at = Some(self.source.clock.now());
        *self.source.lock() = FetchState { asked_at, running: None };
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").field("issuer", &self.0.issuer).finish_non_exhaustive()
    }
}
