//! How people sign in to the console of `kcp broker`: OIDC, the authorization code flow with PKCE.
//!
//! What a reader would get wrong: nothing is kept here. What has to be remembered between two requests, and the session itself, is in cookies that
//! are sealed with the broker's own keys, so that any replica can go on with what another one has begun. A session is what the token said,
//! and ends with it.

mod cookies;
mod provider;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use anyhow::{Context, ensure};
use api::{Principal, Verifier};
use axum::{
    Extension, Router,
    extract::{RawQuery, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use base::{Clock, failure::chain};
use console::{Console, Fields, Person};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use store::Sealer;
use url::{Url, form_urlencoded};
use uuid::Uuid;

use crate::settings::{Settings, console::ConsoleSettings};
use cookies::{Cookies, SESSION, SIGNING_IN};
use provider::Provider;

/// How long signing in may take.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);
const SIGN_IN: &str = "/console/sign-in";
const SIGNED_IN: &str = "/console/signed-in";
const SIGN_OUT: &str = "/console/sign-out";
/// The largest form that is kept for its sender.
const LARGEST_FORM: usize = 256 * 1024;

/// How people sign in.
pub(crate) struct SignIn {
    provider: Provider,
    verifier: Arc<Verifier>,
    cookies: Cookies,
    clock: Clock,
}

/// Between the way to the issuer and the way back.
#[derive(Serialize, Deserialize)]
struct PendingSignIn {
    state: String,
    verifier: String,
    to: String,
    until: Timestamp,
}

/// The session of a user.
#[derive(Serialize, Deserialize)]
struct Session {
    name: String,
    #[serde(default)]
    issuer: String,
    scopes: Vec<String>,
    tenant: Option<String>,
    until: Timestamp,
    form: String,
}

impl SignIn {
    /// As the settings say; none when they name no address of the console.
    pub(crate) fn new(
        settings: &Settings,
        verifier: &Arc<Verifier>,
        sealer: Sealer,
        clock: &Clock,
    ) -> anyhow::Result<Option<Arc<Self>>> {
        let Some(provider) = configured(settings)? else { return Ok(None) };
        let cookies = Cookies::new(sealer, provider.back.starts_with("https:"));
        let (verifier, clock) = (verifier.clone(), clock.clone());
        Ok(Some(Arc::new(Self { provider, verifier, cookies, clock })))
    }

    /// The console behind the sign-in.
    pub(crate) fn around(self: &Arc<Self>, console: Console) -> Router {
        let pages = console::router(console)
            .route(SIGN_OUT, get(console::home).post(sign_out).fallback(console::wrong_method))
            .route_layer(from_fn_with_state(self.clone(), with_session))
            .route_layer(Extension(self.clone()))
            .route_layer(from_fn(console::headers));
        Router::new()
            .route(SIGN_IN, get(begin))
            .route(SIGNED_IN, get(finish))
            .with_state(self.clone())
            .method_not_allowed_fallback(console::wrong_method)
            .route_layer(from_fn(console::headers))
            .merge(pages)
            .merge(console::assets())
    }

    /// Who has signed in: by the first token that opens something here, or else by the first that is accepted. An access token
    /// may have no scopes of ours while the ID token has groups.
    async fn principal(&self, tokens: Vec<String>) -> Option<Principal> {
        let mut first = None;
        for token in tokens {
            match self.verifier.verify(&token).await {
                Ok(principal) => {
                    let opens = |scope: &String| {
                        scope != "tenants:any" && console::SCOPES.contains(&scope.as_str())
                    };
                    if principal.scopes.iter().any(opens) {
                        return Some(principal);
                    }
                    first.get_or_insert(principal);
                }
                Err(denied) => {
                    tracing::info!(reason = chain(&denied), "token of a sign-in refused");
                }
            }
        }
        first
    }

    fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let session: Session = self.cookies.open(headers, SESSION)?;
        (session.until > self.clock.now()).then_some(session)
    }
}

/// The issuer's settings; none when they name no address of the console.
fn configured(settings: &Settings) -> anyhow::Result<Option<Provider>> {
    let ConsoleSettings { url, client_id, client_secret, issuer, scopes } = &settings.console;
    let Some(url) = url else { return Ok(None) };
    let hosts = settings.transport.hosts();
    let parsed = Url::parse(url).with_context(|| format!("console.url: {url} is no address"))?;
    ensure!(hosts.allow(&parsed), "console.url: {url} is not https; sessions would pass in clear");
    let is_origin = parsed.path() == "/" && parsed.query().is_none() && parsed.fragment().is_none();
    ensure!(is_origin, "console.url: {url} must have a scheme, a host and a port only");
    let issuers: Vec<&str> = settings.access.issuers.iter().map(|it| it.url.as_str()).collect();
    let issuer = issuer.as_deref().or(issuers.first().copied());
    let issuer = issuer.context("console.url needs an issuer in access.issuers")?;
    ensure!(issuers.contains(&issuer), "console.issuer: {issuer} is not in access.issuers");
    let client = client_id.clone().context("console.url needs console.client_id")?;
    Ok(Some(Provider {
        issuer: issuer.to_owned(),
        client,
        secret: client_secret.clone(),
        scopes: scopes.clone(),
        back: format!("{}{SIGNED_IN}", parsed.origin().ascii_serialization()),
        hosts,
        http: provider::client()?,
        known: provider::CachedEndpoints::default(),
    }))
}

/// Checks everything that a start would refuse.
pub(crate) fn check(settings: &Settings) -> anyhow::Result<()> {
    configured(settings).map(drop)
}

/// Lets those through who have signed in; sends pages to the sign-in, keeps forms for their senders, and tells everything else that
/// there is no session.
async fn with_session(
    State(sign_in): State<Arc<SignIn>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(session) = sign_in.session(request.headers()) else {
        // What a page fetches in the background cannot sign in.
        let mode = request.headers().get("sec-fetch-mode");
        let navigates = mode.is_none_or(|mode| mode == "navigate");
        let page = request.method() == Method::GET
            && navigates
            && request.uri().path() != "/console/events";
        if request.method() == Method::POST && navigates {
            return form_without_session(request).await;
        }
        if !page {
            return StatusCode::UNAUTHORIZED.into_response();
        }
        let to = request.uri().path_and_query().map_or("/", |to| to.as_str());
        return redirect(&sign_in_address(to), None);
    };
    request.extensions_mut().insert(Person {
        name: session.name,
        issuer: session.issuer,
        scopes: session.scopes.into_iter().collect(),
        tenant: session.tenant,
        until: Some(session.until),
        form: session.form,
    });
    next.run(request).await
}

/// The way to the sign-in, and from there to a page.
fn sign_in_address(to: &str) -> String {
    let query: String =
        form_urlencoded::Serializer::new(String::new()).append_pair("to", to).finish();
    format!("{SIGN_IN}?{query}")
}

/// A page that keeps the fields of a form until its sender has signed in again. It is not sent on to the sign-in: browsers do not let a
/// form end at another host, which the issuer is.
async fn form_without_session(request: Request) -> Response {
    let (head, body) = request.into_parts();
    let action = head.uri.path_and_query().map_or("/", |it| it.as_str());
    let site = head.headers.get("sec-fetch-site");
    let is_own = site.is_none_or(|site| site == "same-origin") && action != SIGN_OUT;
    let body = axum::body::to_bytes(body, LARGEST_FORM).await.unwrap_or_default();
    let fields: Vec<(String, String)> =
        if is_own { form_urlencoded::parse(&body).into_owned().collect() } else { Vec::new() };
    let page = page_of_form(&head.headers).unwrap_or_else(|| "/".into());
    console::session_over(action, &fields, &sign_in_address(&page))
}

/// The page of ours that a form was on, as the browser says.
fn page_of_form(headers: &HeaderMap) -> Option<String> {
    let from = Url::parse(headers.get(header::REFERER)?.to_str().ok()?).ok()?;
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let is_here = from[url::Position::BeforeHost..url::Position::AfterPort] == *host;
    let to = from[url::Position::BeforePath..url::Position::AfterQuery].to_owned();
    (is_here && is_ours(&to)).then_some(to)
}

/// The value of a field in an address; of several the first. Whatever else is in an address is no reason to show no page.
fn field(query: Option<&str>, name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    fields.find(|(own, _)| own == name).map(|(_, value)| value.into_owned())
}

async fn begin(State(sign_in): State<Arc<SignIn>>, RawQuery(query): RawQuery) -> Response {
    // Two of them, because one has 122 random bits and a verifier needs 256 to be beyond doubt.
    let random = || format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    let begun = PendingSignIn {
        state: random(),
        verifier: random(),
        to: field(query.as_deref(), "to").filter(|to| is_ours(to)).unwrap_or_else(|| "/".into()),
        until: sign_in.clock.now() + PATIENCE,
    };
    match sign_in.provider.address(&begun.state, &begun.verifier).await {
        Ok(address) => redirect(&address, Some(sign_in.cookies.sealed(SIGNING_IN, &begun))),
        Err(error) => unavailable(&error),
    }
}

async fn finish(
    State(sign_in): State<Arc<SignIn>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let answer = |name| field(query.as_deref(), name);
    let begun = sign_in.cookies.open::<PendingSignIn>(&headers, SIGNING_IN);
    let begun = begun
        .filter(|it| it.until > sign_in.clock.now() && Some(&it.state) == answer("state").as_ref());
    let Some(begun) = begun else {
        return notice(
            StatusCode::BAD_REQUEST,
            "You are not signed in",
            "The sign-in took too long, or was begun in another browser. Begin it again.",
        );
    };
    let Some(code) = answer("code") else {
        let why = answer("error_description").or_else(|| answer("error")).unwrap_or_default();
        let text = format!("The issuer {} refused the sign-in: {why}.", sign_in.provider.issuer);
        return notice(StatusCode::FORBIDDEN, "You are not signed in", &text);
    };
    let tokens = match sign_in.provider.redeem(&code, &begun.verifier).await {
        Ok(tokens) => tokens,
        Err(error) => return unavailable(&error),
    };
    let Some(principal) = sign_in.principal(tokens).await else {
        let text = "The broker does not accept the token of the issuer; its log says why. Ask the operators of this control plane.";
        return notice(StatusCode::FORBIDDEN, "You are not signed in", text);
    };
    tracing::info!(target: "audit", subject = principal.subject, issuer = principal.issuer, "signed in to the console");
    let before = sign_in.cookies.open(&headers, SESSION);
    let session = sign_in.cookies.sealed(SESSION, &session(principal, before));
    redirect(&begun.to, Some(session))
}

/// A new session. The forms of the same user's session before it stay good: they may be open in another tab.
fn session(principal: Principal, before: Option<Session>) -> Session {
    let is_same = |it: &Session| it.name == principal.subject && it.issuer == principal.issuer;
    let form = before.filter(is_same).map_or_else(|| Uuid::new_v4().to_string(), |it| it.form);
    // What the console never asks for need not travel with each request.
    let scopes = principal.scopes.into_iter().filter(|it| console::SCOPES.contains(&it.as_str()));
    Session {
        name: principal.subject,
        issuer: principal.issuer,
        scopes: scopes.collect(),
        tenant: principal.tenant,
        until: principal.until,
        form,
    }
}

async fn sign_out(Extension(sign_in): Extension<Arc<SignIn>>, _: Fields) -> Response {
    let text = "Other pages of this console in this browser are signed out, too.";
    let mut response = notice(StatusCode::OK, "You are signed out", text);
    response.headers_mut().insert(header::SET_COOKIE, sign_in.cookies.ended(SESSION));
    response
}

/// Whether an address leads to a page of ours and nowhere else.
fn is_ours(to: &str) -> bool {
    // Browsers drop tabs and line ends from addresses, and take a backslash for a slash.
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    to.starts_with('/') && !to.starts_with("//") && to.len() <= 2_000 && to.bytes().all(is_plain)
}

fn redirect(to: &str, cookie: Option<HeaderValue>) -> Response {
    let Ok(to) = HeaderValue::from_str(to) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn unavailable(error: &anyhow::Error) -> Response {
    tracing::warn!(error = format!("{error:#}"), "the issuer of the console cannot be used");
    let text =
        "The issuer does not answer. Try again in a moment; the broker's log says what is wrong.";
    notice(StatusCode::BAD_GATEWAY, "Signing in is not possible right now", text)
}

/// A page that says one thing, with the way to sign in.
fn notice(status: StatusCode, heading: &str, text: &str) -> Response {
    (status, console::notice(heading, text, SIGN_IN)).into_response()
}
