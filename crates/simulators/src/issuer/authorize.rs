//! The authorization code flow: a page to log in on, and a code that works once.
//!
//! What a reader would get wrong: only addresses of this machine are redirected to. Everything that
//! uses this issuer runs here, and so no client has to register where it listens.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Form, Query, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use url::{Host, Url};

use super::{
    Grant, Issuer,
    credentials::person,
    error::TokenError,
    grants::{Fields, granted_to},
    pages,
    records::{Code, Event, GrantRecord, digest_of, secret},
    registered_clients::RegisteredClient,
};

/// How long a code works.
const CODE: Duration = Duration::from_mins(5);
const TITLE: &str = "Log in";

/// A request that may be answered with a redirect.
struct AuthorizationRequest<'a> {
    client: RegisteredClient,
    redirect: Url,
    state: Option<&'a str>,
}

/// Shows the login page.
pub(super) async fn page(
    State(issuer): State<Arc<Issuer>>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Response {
    let fields = match Fields::from_pairs(pairs) {
        Ok(fields) => fields,
        Err(error) => return refused(&error),
    };
    match asked(&issuer, &fields) {
        Err(error) => refused(&error),
        Ok(asked) => match check(&fields) {
            Err(error) => {
                asked.back(&[("error", error.code()), ("error_description", &error.to_string())])
            }
            Ok(_) => pages::login(StatusCode::OK, TITLE, None, fields.pairs(), ""),
        },
    }
}

/// Takes the name and the password, and redirects with a code.
pub(super) async fn login(
    State(issuer): State<Arc<Issuer>>,
    Query(query): Query<Vec<(String, String)>>,
    Form(form): Form<Vec<(String, String)>>,
) -> Response {
    // The form repeats the query in hidden fields; what was typed is only in the form.
    let hidden = form.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let rest = query.into_iter().filter(|(name, _)| !hidden.contains(name));
    let fields = match Fields::from_pairs(form.into_iter().chain(rest).collect()) {
        Ok(fields) => fields,
        Err(error) => return refused(&error),
    };
    let asked = match asked(&issuer, &fields) {
        Ok(asked) => asked,
        Err(error) => return refused(&error),
    };
    match code(&issuer, &asked, &fields) {
        Ok(code) => asked.back(&[("code", &code)]),
        Err(TokenError::InvalidGrant(reason)) => {
            let typed = ["username", "password", "decision"];
            let kept = fields.pairs().iter().filter(|(name, _)| !typed.contains(&name.as_str()));
            let kept: Vec<_> = kept.cloned().collect();
            pages::login(StatusCode::UNAUTHORIZED, TITLE, Some(reason), &kept, "")
        }
        Err(error) => {
            asked.back(&[("error", error.code()), ("error_description", &error.to_string())])
        }
    }
}

fn code(
    issuer: &Issuer,
    asked: &AuthorizationRequest<'_>,
    fields: &Fields,
) -> Result<String, TokenError> {
    let challenge = check(fields)?;
    if fields.get("decision") == Some("deny") {
        return Err(TokenError::AccessDenied);
    }
    let user = person(issuer, fields)?;
    let scopes = granted_to(&asked.client, &user, fields.get("scope"))?;
    let now = issuer.clock.now();
    let granted = GrantRecord {
        client: asked.client.id.clone(),
        user: user.name.clone(),
        scopes,
        nonce: fields.get("nonce").map(str::to_owned),
    };
    let redirect = fields.required("redirect_uri")?.to_owned();
    let code = Code { granted, redirect, challenge, given_at: now, until: now + CODE };
    let value = secret();
    issuer.known.change(|_| {
        Ok::<_, TokenError>((Some(Event::CodeGiven { digest: digest_of(&value), code }), ()))
    })?;
    Ok(value)
}

/// Trades a code for what it stands for. It is used up even if the rest does not fit.
pub(super) fn redeem(
    issuer: &Issuer,
    client: &RegisteredClient,
    fields: &Fields,
) -> Result<GrantRecord, TokenError> {
    let digest = digest_of(fields.required("code")?);
    let redirect = fields.required("redirect_uri")?;
    let verifier = fields.required("code_verifier")?;
    let now = issuer.clock.now();
    let code = issuer.known.change(|known| {
        let code = known.codes.get(&digest).cloned();
        let code = code.ok_or(TokenError::InvalidGrant("the code is not known or was used"))?;
        Ok::<_, TokenError>((Some(Event::CodeUsed { digest }), code))
    })?;
    let fits = code.granted.client == client.id
        && code.redirect == redirect
        && code.challenge == digest_of(verifier)
        && now < code.until;
    if fits { Ok(code.granted) } else { Err(TokenError::InvalidGrant("the code does not fit")) }
}

/// Who asks, and where the answer goes. Until both are known nothing may be redirected.
fn asked<'a>(
    issuer: &'a Issuer,
    fields: &'a Fields,
) -> Result<AuthorizationRequest<'a>, TokenError> {
    let id = fields.required("client_id")?;
    let client = issuer
        .client(id)
        .filter(|client| client.grants.contains(&Grant::AuthorizationCode))
        .ok_or(TokenError::UnauthorizedClient)?;
    let redirect = Url::parse(fields.required("redirect_uri")?).ok();
    let redirect = redirect
        .filter(|url| url.fragment().is_none() && is_here(url))
        .ok_or(TokenError::InvalidRequest("the redirect leaves this machine"))?;
    Ok(AuthorizationRequest { client, redirect, state: fields.get("state") })
}

fn is_here(url: &Url) -> bool {
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    here && matches!(url.scheme(), "http" | "https")
}

/// Comes back with the challenge.
fn check(fields: &Fields) -> Result<String, TokenError> {
    if fields.required("response_type")? != "code" {
        return Err(TokenError::UnsupportedResponseType);
    }
    if fields.get("code_challenge_method") != Some("S256") {
        return Err(TokenError::InvalidRequest("a code challenge with S256 is required"));
    }
    Ok(fields.required("code_challenge")?.to_owned())
}

impl AuthorizationRequest<'_> {
    fn back(&self, pairs: &[(&str, &str)]) -> Response {
        let mut url = self.redirect.clone();
        url.query_pairs_mut()
            .extend_pairs(pairs)
            .extend_pairs(self.state.map(|state| ("state", state)));
        (StatusCode::SEE_OTHER, [(header::LOCATION, String::from(url))]).into_response()
    }
}

fn refused(error: &TokenError) -> Response {
    pages::message(StatusCode::BAD_REQUEST, "This request cannot be answered", &error.to_string())
}
