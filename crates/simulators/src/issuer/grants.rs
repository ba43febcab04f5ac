//! The token endpoint: who asks, for what, and the token.

use std::sync::Arc;

use axum::{
    Form, Json,
    extract::{State, rejection::FormRejection},
    http::{HeaderMap, header},
    response::IntoResponse,
};
use serde_json::json;

use super::{Client, Grant, Issuer, credentials, error::TokenError};

/// The fields of the form, each at most once.
pub(super) struct Fields(Vec<(String, String)>);

/// Whom a token speaks for, and what it may say.
struct Subject<'a> {
    name: &'a str,
    scopes: Vec<String>,
    groups: &'a [String],
}

pub(super) async fn token(
    State(issuer): State<Arc<Issuer>>,
    headers: HeaderMap,
    form: Result<Form<Vec<(String, String)>>, FormRejection>,
) -> Result<impl IntoResponse, TokenError> {
    let fields = Fields::new(form)?;
    let grant = match fields.required("grant_type")? {
        "client_credentials" => Grant::ClientCredentials,
        "password" => Grant::Password,
        _ => return Err(TokenError::UnsupportedGrantType),
    };
    let client = credentials::client(&issuer, &headers, &fields)?;
    if !client.grants.contains(&grant) {
        return Err(TokenError::UnauthorizedClient);
    }

    let subject = subject(&issuer, client, grant, &fields)?;
    let scopes = granted(&subject.scopes, fields.get("scope"))?;
    let claims = issuer.claims(&client.id, subject.name, &scopes, subject.groups);
    let token = issuer.sign(&claims)?;
    let answer = json!({
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": issuer.settings.lifetime.as_secs(),
        "scope": claims.scope,
    });
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)))
}

fn subject<'a>(
    issuer: &'a Issuer,
    client: &'a Client,
    grant: Grant,
    fields: &Fields,
) -> Result<Subject<'a>, TokenError> {
    match grant {
        // A client without a secret has proven nothing and cannot speak for itself.
        Grant::ClientCredentials if client.secret.is_none() => Err(TokenError::UnauthorizedClient),
        Grant::ClientCredentials => {
            Ok(Subject { name: &client.id, scopes: client.scopes.clone(), groups: &[] })
        }
        Grant::Password => {
            let user = credentials::user(issuer, fields)?;
            let scopes =
                user.scopes.iter().filter(|scope| client.scopes.contains(scope)).cloned().collect();
            Ok(Subject { name: &user.name, scopes, groups: &user.groups })
        }
    }
}

/// What was asked for, or all that is allowed when nothing was.
fn granted(allowed: &[String], asked: Option<&str>) -> Result<Vec<String>, TokenError> {
    let asked: Vec<String> =
        asked.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    if asked.is_empty() {
        return Ok(allowed.to_vec());
    }
    if asked.iter().all(|scope| allowed.contains(scope)) {
        Ok(asked)
    } else {
        Err(TokenError::InvalidScope)
    }
}

impl Fields {
    fn new(form: Result<Form<Vec<(String, String)>>, FormRejection>) -> Result<Self, TokenError> {
        let Form(fields) =
            form.map_err(|_| TokenError::InvalidRequest("the body is not a URL-encoded form"))?;
        let twice = fields
            .iter()
            .enumerate()
            .any(|(at, (name, _))| fields[..at].iter().any(|(earlier, _)| earlier == name));
        if twice {
            return Err(TokenError::InvalidRequest("a field is given twice"));
        }
        Ok(Self(fields))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn required(&self, name: &'static str) -> Result<&str, TokenError> {
        self.get(name).ok_or(TokenError::InvalidRequest("a required field is missing"))
    }
}
