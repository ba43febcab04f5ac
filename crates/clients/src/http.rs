//! One client for every outside system that speaks HTTP: deadlines, body limits, tokens, and who is calling.
//!
//! It never tries again by itself: inside a step, trying again is the engine's business. The one
//! exception is a token that was withdrawn before its time, where a client asks for it.

mod streamed;

use std::{sync::Arc, time::Duration};

use base::{Clock, caller::Call};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{
    Method, Request, RequestBuilder, Response, StatusCode,
    header::{AUTHORIZATION, HeaderName, HeaderValue},
    redirect,
};
use url::{Host, Url};

pub use streamed::Pieces;

pub use crate::{
    answer::Answer,
    gate::{CallLimits, Gate},
};
use crate::{
    answer::{self, Raw},
    error::{Component, Error},
    gate::CallSpec,
    oauth::{Token, TokenSource},
};

/// How long a connection is kept while nothing is called: less than what servers keep them for.
const IDLE: Duration = Duration::from_secs(30);

/// A client for one outside system.
#[derive(Debug, Clone)]
pub struct Http {
    gate: Arc<Gate>,
    base: Url,
    client: reqwest::Client,
    token: Option<Arc<TokenSource>>,
    renewing: bool,
}

impl Http {
    /// A client for `component` at `base`, alone at its gate.
    pub fn new(component: Component, base: Url, limits: CallLimits) -> Result<Self, Error> {
        Self::through(Gate::new(component, limits, Clock::running()), base)
    }

    /// A client for the system behind `gate`. Redirects are not followed: nobody is asked to give
    /// our credentials to another host.
    pub fn through(gate: Arc<Gate>, base: Url) -> Result<Self, Error> {
        let mut client = reqwest::Client::builder();
        if stays_here(&base) {
            // Nobody shows a certificate, and reading those that the machine trusts takes longer than a call.
            client = client.tls_certs_only([]);
        }
        let client = client
            .connect_timeout(gate.limits().connect)
            // Before the other side closes it, which would lose the answer of a call that is sent just then.
            .pool_idle_timeout(IDLE)
            .timeout(gate.limits().call)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(concat!("kcp/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| {
                let doing = "preparing the client";
                Error::transport(gate.component(), doing, &Method::GET, error)
            })?;
        Ok(Self { gate, base, client, token: None, renewing: false })
    }

    /// Sends a token with every call.
    #[must_use]
    pub fn with_token(mut self, token: Arc<TokenSource>) -> Self {
        self.token = Some(token);
        self
    }

    /// Asks once for a new token when one is not accepted, and makes the call again with it.
    #[must_use]
    pub fn renewing_refused_tokens(mut self) -> Self {
        self.renewing = true;
        self
    }

    /// The system that is called.
    pub fn component(&self) -> Component {
        self.gate.component()
    }

    /// The clock that its calls go by.
    pub(crate) fn clock(&self) -> &Clock {
        self.gate.clock()
    }

    /// Begins a request for `path` below the base address.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.address(path))
    }

    /// Begins a GET request for `path` below the base address.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// Begins a POST request for `path` below the base address.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }

    /// Begins a PUT request for `path` below the base address.
    pub fn put(&self, path: &str) -> RequestBuilder {
        self.request(Method::PUT, path)
    }

    /// Begins a DELETE request for `path` below the base address.
    pub fn delete(&self, path: &str) -> RequestBuilder {
        self.request(Method::DELETE, path)
    }

    /// Makes the call and classifies its failure. `doing` is a phrase: "deregistering runtime 8f21".
    pub async fn send(&self, doing: &str, request: RequestBuilder) -> Result<Answer, Error> {
        self.send_to("-", doing, request).await
    }

    /// Makes the call and counts it under `route`, which names no object: "delete tenant".
    pub async fn send_to(
        &self,
        route: &str,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<Answer, Error> {
        self.raw(route, doing, request).await?.accepted(self.component(), doing)
    }

    /// Makes the call; a failing status is an answer like any other.
    pub(crate) async fn raw(
        &self,
        route: &str,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<Raw, Error> {
        let request = self.built(doing, request)?;
        // Before the call is counted: a token that is renewed in one run and cached in the next
        // must not shift the numbers that idempotency keys are made of.
        let token = match &self.token {
            Some(source) => Some(source.current().await?),
            None => None,
        };
        let asked = call_spec(route, doing, &request, true);
        self.gate
            .pass(asked, Raw::kind, |call| self.with_token_of(doing, request, token, call))
            .await
    }

    /// Makes a call whose answer may take long and on which nobody depends: it takes nobody's turn, belongs to no step and
    /// says nothing about the system's health.
    pub(crate) async fn hint(
        &self,
        route: &str,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<Raw, Error> {
        let request = self.built(doing, request)?;
        let token = match &self.token {
            Some(source) => Some(source.current().await?),
            None => None,
        };
        let asked =
            CallSpec { lasting: true, hint: true, ..call_spec(route, doing, &request, false) };
        self.gate.pass(asked, Raw::kind, |_| self.with_token_of(doing, request, token, None)).await
    }

    /// Makes a call that belongs to no step: without headers, and without counting it.
    pub(crate) async fn uncounted(
        &self,
        route: &str,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<Raw, Error> {
        let request = self.built(doing, request)?;
        let asked = call_spec(route, doing, &request, false);
        self.gate.pass(asked, Raw::kind, |_| self.execute(doing, request)).await
    }

    /// Forgets the token that was sent for this answer: systems may refuse it in their own words.
    pub(crate) async fn withdraw_token(&self, raw: &Raw) {
        if let (Some(source), Some(token)) = (&self.token, raw.token()) {
            source.withdraw(token).await;
        }
    }

    async fn with_token_of(
        &self,
        doing: &str,
        mut request: Request,
        token: Option<Token>,
        call: Option<Call>,
    ) -> Result<Raw, Error> {
        for (name, value) in call.iter().flat_map(Call::headers) {
            // A step's name that is no header value is left out rather than failing the call.
            if let Ok(value) = HeaderValue::try_from(value) {
                request.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        let (Some(source), Some(token)) = (&self.token, token) else {
            return self.execute(doing, request).await;
        };
        let again = request.try_clone().filter(|_| self.renewing);
        request.headers_mut().insert(AUTHORIZATION, token.header.clone());
        let first = self.execute(doing, request).await?.without(&token);
        if first.status != StatusCode::UNAUTHORIZED {
            return Ok(first);
        }
        source.withdraw(&token).await;
        let Some(mut again) = again else { return Ok(first) };
        let token = source.current().await?;
        again.headers_mut().insert(AUTHORIZATION, token.header.clone());
        let second = self.execute(doing, again).await?.without(&token);
        if second.status == StatusCode::UNAUTHORIZED {
            source.withdraw(&token).await;
        }
        Ok(second)
    }

    async fn execute(&self, doing: &str, request: Request) -> Result<Raw, Error> {
        let method = request.method().clone();
        let failed = |error| Error::transport(self.component(), doing, &method, error);
        let response = self.client.execute(request).await.map_err(failed)?;
        let mut raw = Raw::head(response.status(), response.headers(), self.gate.clock().now());
        match limited(response, self.gate.limits().body).await {
            Ok(Some(body)) => raw.body = body,
            Ok(None) => return Err(answer::too_large(self.component(), doing)),
            Err(error) => return Err(failed(error)),
        }
        Ok(raw)
    }

    fn built(&self, doing: &str, request: RequestBuilder) -> Result<Request, Error> {
        request
            .build()
            .map_err(|error| Error::transport(self.component(), doing, &Method::GET, error))
    }

    fn address(&self, path: &str) -> String {
        let base = self.base.as_str();
        if path.is_empty() {
            return base.into();
        }
        format!("{}/{}", base.trim_end_matches('/'), path.trim_start_matches('/'))
    }
}

fn call_spec(route: &str, doing: &str, request: &Request, counted: bool) -> CallSpec {
    let (route, doing, method) = (route.into(), doing.into(), request.method().clone());
    CallSpec { route, doing, method, counted, lasting: false, hint: false }
}

/// Reads a body up to `limit`; `None` when there is more.
async fn limited(mut response: Response, limit: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// All that is escaped in a segment of a path: what RFC 3986 does not call unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A name as one segment of a path, whatever it holds. `None` for the three names that every parser
/// of addresses takes for something else.
pub fn segment(name: &str) -> Option<String> {
    (!matches!(name, "" | "." | "..")).then(|| utf8_percent_encode(name, RESERVED).to_string())
}

/// Whether it is reached without leaving this machine, and without TLS.
fn stays_here(base: &Url) -> bool {
    let here = match base.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    here && base.scheme() == "http"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_without_tls_need_no_trusted_certificates() {
        let stays = |url: &str| stays_here(&url.parse().unwrap());

        assert!(
            stays("http://127.0.0.1:8080/a")
                && stays("http://[::1]/")
                && stays("http://localhost:1")
        );
        for leaves in ["https://127.0.0.1/", "http://10.0.0.1/", "http://localhost.example.test/"] {
            assert!(!stays(leaves), "{leaves}");
        }
    }

    #[test]
    fn a_name_stays_one_segment_of_a_path() {
        assert_eq!(segment("c-1a2b").as_deref(), Some("c-1a2b"));
        assert_eq!(segment("../a?b#c%").as_deref(), Some("..%2Fa%3Fb%23c%25"));
        assert_eq!(segment("ü\n\"").as_deref(), Some("%C3%BC%0A%22"));
        assert_eq!(segment(".."), None);
        assert_eq!(segment(""), None);
    }
}
