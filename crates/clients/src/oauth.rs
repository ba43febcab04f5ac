//! Access tokens: fetched when first needed, kept, renewed before they run out, one renewal at a time.
//!
//! What a reader would get wrong: a caller that waited while a renewal failed gets that failure and does not try
//! on its own; otherwise a crowd of callers would knock at a broken issuer one after the other.

mod grant;
mod issued;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use base::Clock;
use jiff::Timestamp;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;
use url::Url;

pub use self::grant::Grant;
use self::{grant::Style, issued::TokenAnswer};
use crate::{
    error::{Component, Error, Kind},
    gate::{CallLimits, Gate},
    http::Http,
};

const DOING: &str = "getting a token";
/// A token is renewed this long before it runs out, so that it does not run out on its way.
const EARLY: Duration = Duration::from_secs(30);

/// Gives tokens.
#[derive(Debug)]
pub struct TokenSource {
    http: Http,
    grant: Grant,
    clock: Clock,
    /// How many tries to fetch have failed.
    failures: AtomicU64,
    kept: Mutex<CachedToken>,
}

#[derive(Debug, Default)]
struct CachedToken {
    token: Option<(Token, Timestamp)>,
    /// How this issuer takes the client's credentials, once that is known.
    style: Option<Style>,
    /// The last failure, with its number.
    failed: Option<(u64, Error)>,
}

/// A token as it is sent.
#[derive(Clone)]
pub struct Token {
    value: SecretString,
    pub(crate) header: HeaderValue,
}

impl TokenSource {
    /// Tokens from `endpoint`.
    pub fn new(endpoint: Url, grant: Grant, clock: Clock) -> Result<Arc<Self>, Error> {
        let limits = CallLimits { body: 64 * 1024, ..CallLimits::DEFAULT };
        Self::through(Gate::new(Component::ISSUER, limits, clock), endpoint, grant)
    }

    /// Tokens from `endpoint`, whose issuer is behind `gate`.
    pub fn through(gate: Arc<Gate>, endpoint: Url, grant: Grant) -> Result<Arc<Self>, Error> {
        let clock = gate.clock().clone();
        let http = Http::through(gate, endpoint)?;
        Ok(Arc::new(Self { http, grant, clock, failures: 0.into(), kept: Mutex::default() }))
    }

    /// Begins with a token that is known already.
    #[must_use]
    pub fn starting_with(self: Arc<Self>, token: SecretString, until: Timestamp) -> Arc<Self> {
        if let (Ok(mut kept), Some(token)) = (self.kept.try_lock(), Token::new("Bearer", token)) {
            kept.token = Some((token, until - EARLY));
        }
        self
    }

    /// The value of a token that is valid for a while.
    pub async fn token(&self) -> Result<SecretString, Error> {
        Ok(self.current().await?.value)
    }

    /// A token that is valid for a while. Callers that come while one is being fetched wait for that one.
    pub(crate) async fn current(&self) -> Result<Token, Error> {
        let failures_before = self.failures.load(SeqCst);
        let mut kept = self.kept.lock().await;
        if let Some((token, renew_at)) = &kept.token
            && self.clock.now() < *renew_at
        {
            return Ok(token.clone());
        }
        if let Some((at, error)) = &kept.failed
            && *at > failures_before
        {
            return Err(error.clone());
        }
        match self.fetch(&mut kept).await {
            Ok((token, lifetime)) => {
                // A token that lives less than a minute is renewed at half its life.
                let keep_for = lifetime.saturating_sub(EARLY.min(lifetime / 2));
                kept.token = Some((token.clone(), self.clock.now() + keep_for));
                kept.failed = None;
                Ok(token)
            }
            Err(error) => {
                let at = self.failures.fetch_add(1, SeqCst) + 1;
                kept.failed = Some((at, error.clone()));
                Err(error)
            }
        }
    }

    /// Forgets a token that was not accepted, unless it has been replaced already.
    pub(crate) async fn withdraw(&self, refused: &Token) {
        let mut kept = self.kept.lock().await;
        if kept.token.as_ref().is_some_and(|(token, _)| token.header == refused.header) {
            kept.token = None;
        }
    }

    async fn fetch(&self, kept: &mut CachedToken) -> Result<(Token, Duration), Error> {
        let style = kept.style.unwrap_or(Style::Basic);
        let mut issued = self.ask(style).await?;
        if kept.style.is_none() {
            if issued.may_dislike_the_style() {
                issued = self.ask(Style::Form).await?;
                if issued.is_token() {
                    kept.style = Some(Style::Form);
                }
            } else if issued.is_token() {
                kept.style = Some(Style::Basic);
            }
        }
        issued.token()
    }

    async fn ask(&self, style: Style) -> Result<TokenAnswer, Error> {
        let request = self.grant.request(&self.http, style);
        let raw = self.http.uncounted("token", DOING, request).await?;
        Ok(TokenAnswer::read(&raw, |text| self.grant.cut_from(text)))
    }
}

impl Token {
    fn new(scheme: &str, value: SecretString) -> Option<Self> {
        let mut header =
            HeaderValue::from_str(&format!("{scheme} {}", value.expose_secret())).ok()?;
        header.set_sensitive(true);
        Some(Self { value, header })
    }

    /// `text` without this token in it.
    pub(crate) fn cut_from(&self, text: &str) -> String {
        grant::cut(text, self.value.expose_secret())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token([REDACTED])")
    }
}

fn failed(kind: Kind) -> Error {
    Error::new(Component::ISSUER, kind, DOING)
}
