//! One client for every outside system: timeouts, body limits, tokens, and who is calling.
//!
//! It never tries again by itself: inside a step, trying again is the engine's business.

use std::{sync::Arc, time::Duration};

use base::caller::{self, Interrupted};
use reqwest::{
    RequestBuilder, Response, StatusCode,
    header::{HeaderMap, RETRY_AFTER},
    redirect,
};
use secrecy::ExposeSecret;
use serde::de::DeserializeOwned;
use url::Url;

use crate::{
    error::{Component, Error, Kind},
    oauth::TokenSource,
};

/// How a client treats its system.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long a connection may take.
    pub connect: Duration,
    /// How long one call may take in all.
    pub call: Duration,
    /// How large an answer may be, in bytes.
    pub body: usize,
}

impl Limits {
    /// What suits most systems.
    pub const DEFAULT: Self = Self {
        connect: Duration::from_secs(5),
        call: Duration::from_secs(30),
        body: 4 * 1024 * 1024,
    };
}

/// A client for one outside system.
#[derive(Debug, Clone)]
pub struct Http {
    component: Component,
    base: Url,
    client: reqwest::Client,
    token: Option<Arc<TokenSource>>,
    limits: Limits,
}

/// An answer that is no failure.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    body: Vec<u8>,
    component: Component,
    doing: String,
}

impl Http {
    /// A client for `component` at `base`. Redirects are not followed: nobody is asked to give our
    /// credentials to somebody else.
    pub fn new(component: Component, base: Url, limits: Limits) -> Result<Self, Error> {
        let client = reqwest::Client::builder()
            .connect_timeout(limits.connect)
            .timeout(limits.call)
            .redirect(redirect::Policy::none())
            .user_agent(concat!("kcp/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Error::transport(component, "preparing the client", error))?;
        Ok(Self { component, base, client, token: None, limits })
    }

    /// Sends a token with every call.
    #[must_use]
    pub fn with_token(mut self, token: Arc<TokenSource>) -> Self {
        self.token = Some(token);
        self
    }

    /// Begins a GET request for `path` below the base address.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.address(path))
    }

    /// Begins a POST request for `path` below the base address.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.address(path))
    }

    /// Begins a PUT request for `path` below the base address.
    pub fn put(&self, path: &str) -> RequestBuilder {
        self.client.put(self.address(path))
    }

    /// Begins a DELETE request for `path` below the base address.
    pub fn delete(&self, path: &str) -> RequestBuilder {
        self.client.delete(self.address(path))
    }

    /// Makes the call and classifies its failure. `doing` is a phrase: "deregistering runtime 8f21".
    pub async fn send(&self, doing: &str, mut request: RequestBuilder) -> Result<Answer, Error> {
        // Before `call`: a token that is renewed in one run and cached in the next must not shift
        // the numbers that idempotency keys are made of.
        if let Some(source) = &self.token {
            request = request.bearer_auth(source.token().await?.expose_secret());
        }
        let made = caller::call(async |call| {
            if let Some(call) = call {
                for (name, value) in call.headers() {
                    request = request.header(name, value);
                }
            }
            self.answer(doing, request).await
        })
        .await;
        match made {
            Ok(answer) => answer,
            Err(Interrupted::NotHeld) => Err(Error::new(self.component, Kind::NotHeld, doing)),
            Err(Interrupted::AnswerLost) => {
                Err(Error::new(self.component, Kind::AnswerLost, doing))
            }
        }
    }

    /// Makes a call that belongs to no step: without headers, and without counting it.
    pub(crate) async fn uncounted(
        &self,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<Answer, Error> {
        self.answer(doing, request).await
    }

    async fn answer(&self, doing: &str, request: RequestBuilder) -> Result<Answer, Error> {
        let failed = |error| Error::transport(self.component, doing, error);
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let body = match limited(response, self.limits.body).await {
            Ok(Some(body)) => body,
            Ok(None) => return Err(Error::new(self.component, Kind::Malformed, doing)),
            Err(error) => return Err(failed(error)),
        };
        match Kind::of_status(status, retry_after) {
            None => Ok(Answer { status, body, component: self.component, doing: doing.into() }),
            Some(kind) => {
                let said = description(&body);
                Err(Error { said, ..Error::new(self.component, kind, doing) })
            }
        }
    }

    fn address(&self, path: &str) -> String {
        let base = self.base.as_str();
        if path.is_empty() {
            return base.into();
        }
        format!("{}/{}", base.trim_end_matches('/'), path.trim_start_matches('/'))
    }
}

impl Answer {
    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body)
            .map_err(|_| Error::new(self.component, Kind::Malformed, &self.doing))
    }
}

/// Reads a body up to `limit`; `None` when there is more.
pub(crate) async fn limited(
    mut response: Response,
    limit: usize,
) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// Seconds only: the other form, a date, would need both clocks to agree.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// What a refusal says, where systems usually say it. The rest of the body is left out: it may
/// repeat what was sent, secrets included.
pub(crate) fn description(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    ["description", "error_description", "message", "error"]
        .iter()
        .find_map(|field| body.get(field)?.as_str())
        .map(|text| base::failure::shortened(text.to_owned()))
}
