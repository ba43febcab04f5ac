//! The token endpoints: the older one asks for a resource, the newer one for a scope.

use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::{
    Form, Json,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use url::form_urlencoded;
use uuid::Uuid;

use super::{
    Azure,
    records::{Event, Token, digest_of},
};
use crate::store::Error;

type Fields = Form<Vec<(String, String)>>;

/// A token that is not given.
pub(super) struct NoToken(StatusCode, &'static str, String);

impl IntoResponse for NoToken {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.1, "error_description": self.2, "error_codes": [] });
        (self.0, Json(body)).into_response()
    }
}

impl From<Error> for NoToken {
    fn from(error: Error) -> Self {
        tracing::error!(%error, "azure simulator: cannot store state");
        Self(StatusCode::INTERNAL_SERVER_ERROR, "server_error", String::new())
    }
}

/// The older endpoint. It writes numbers as texts.
pub(super) async fn first(
    State(azure): State<Arc<Azure>>,
    Path(tenant): Path<String>,
    headers: HeaderMap,
    Form(fields): Fields,
) -> Result<Json<Value>, NoToken> {
    if one(&fields, "resource").is_none() {
        return Err(bad(
            "invalid_request",
            "AADSTS900144: The request body must contain 'resource'.",
        ));
    }
    let (token, lifetime) = given(&azure, &tenant, &headers, &fields)?;
    Ok(Json(json!({
        "token_type": "Bearer", "expires_in": lifetime.to_string(),
        "ext_expires_in": lifetime.to_string(), "access_token": token,
    })))
}

/// The newer endpoint.
pub(super) async fn second(
    State(azure): State<Arc<Azure>>,
    Path(tenant): Path<String>,
    headers: HeaderMap,
    Form(fields): Fields,
) -> Result<Json<Value>, NoToken> {
    if !one(&fields, "scope").is_some_and(|scope| scope.ends_with("/.default")) {
        return Err(bad("invalid_scope", "AADSTS70011: The provided 'scope' is not valid."));
    }
    let (token, lifetime) = given(&azure, &tenant, &headers, &fields)?;
    Ok(Json(json!({
        "token_type": "Bearer", "expires_in": lifetime, "ext_expires_in": lifetime,
        "access_token": token,
    })))
}

fn given(
    azure: &Azure,
    tenant: &str,
    headers: &HeaderMap,
    fields: &[(String, String)],
) -> Result<(String, u64), NoToken> {
    if one(fields, "grant_type") != Some("client_credentials") {
        return Err(bad("unsupported_grant_type", "AADSTS70003: The grant type is not supported."));
    }
    let (client, secret) = presented(headers, fields)
        .ok_or_else(|| bad("invalid_client", "AADSTS7000218: The client's secret is missing."))?;
    let (value, now) = (format!("{}.{}", Uuid::new_v4(), Uuid::new_v4()), azure.clock.now());
    azure.known.change(|known| {
        let of_client = known.subscriptions.values().find(|it| it.client == client && it.tenant == tenant);
        match of_client {
            None if known.subscriptions.is_empty() => {}
            None => {
                let said = format!("AADSTS700016: Application '{client}' was not found in the directory '{tenant}'.");
                return Err(NoToken(StatusCode::BAD_REQUEST, "unauthorized_client", said));
            }
            Some(known) => {
                let (known, presented) = (&known.secret, digest_of(&secret));
                if verify_slices_are_equal(known.as_bytes(), presented.as_bytes()).is_err() {
                    let said = "AADSTS7000215: Invalid client secret provided.".to_owned();
                    return Err(NoToken(StatusCode::UNAUTHORIZED, "invalid_client", said));
                }
            }
        }
        let until = now + azure.settings.token;
        let token = Token { client: client.clone(), given_at: now, until };
        Ok((Some(Event::TokenGiven { digest: digest_of(&value), token }), ()))
    })?;
    Ok((value, azure.settings.token.as_secs() - 1))
}

/// Id and secret, by form fields or by a Basic header in which both are escaped.
fn presented(headers: &HeaderMap, fields: &[(String, String)]) -> Option<(String, String)> {
    if let (Some(id), Some(secret)) = (one(fields, "client_id"), one(fields, "client_secret")) {
        return Some((id.to_owned(), secret.to_owned()));
    }
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Basic ")?;
    let text = String::from_utf8(BASE64_STANDARD.decode(value).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((unescaped(id), unescaped(secret)))
}

fn unescaped(text: &str) -> String {
    form_urlencoded::parse(text.as_bytes())
        .map(|(name, _)| name.into_owned())
        .next()
        .unwrap_or_default()
}

fn one<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
}

fn bad(code: &'static str, said: &str) -> NoToken {
    NoToken(StatusCode::BAD_REQUEST, code, said.into())
}
