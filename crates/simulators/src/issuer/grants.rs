//! The token endpoint: who asks, for what, and the token.

use std::sync::Arc;

use axum::{
    Form, Json,
    extract::{State, rejection::FormRejection},
    http::{HeaderMap, header},
    response::IntoResponse,
};
use serde_json::{Value, json};

use super::{
    Grant, Issuer, authorize, credentials, device,
    error::TokenError,
    records::{Event, GrantRecord, digest_of, secret},
    registered_clients::{Person, RegisteredClient},
};

/// Scopes that mean something to the protocol itself; every person may have them.
const PROTOCOL: [&str; 5] = ["openid", "profile", "email", "groups", "offline_access"];

/// The fields of the form, each at most once.
pub(super) struct Fields(Vec<(String, String)>);

pub(super) async fn token(
    State(issuer): State<Arc<Issuer>>,
    headers: HeaderMap,
    form: Result<Form<Vec<(String, String)>>, FormRejection>,
) -> Result<impl IntoResponse, TokenError> {
    let fields = Fields::new(form)?;
    let grant = match fields.required("grant_type")? {
        "client_credentials" => Grant::ClientCredentials,
        "password" => Grant::Password,
        "authorization_code" => Grant::AuthorizationCode,
        "urn:ietf:params:oauth:grant-type:device_code" => Grant::Device,
        "refresh_token" => Grant::Refresh,
        _ => return Err(TokenError::UnsupportedGrantType),
    };
    let client = &credentials::client(&issuer, &headers, &fields)?;
    if !client.grants.contains(&grant) {
        return Err(TokenError::UnauthorizedClient);
    }
    let answer = match grant {
        Grant::ClientCredentials => machine(&issuer, client, &fields)?,
        Grant::Password => {
            let user = credentials::person(&issuer, &fields)?;
            let scopes = granted_to(client, &user, fields.get("scope"))?;
            let (client_id, user) = (client.id.clone(), user.name.clone());
            person(&issuer, client, GrantRecord { client: client_id, user, scopes, nonce: None })?
        }
        Grant::AuthorizationCode => {
            person(&issuer, client, authorize::redeem(&issuer, client, &fields)?)?
        }
        Grant::Device => person(&issuer, client, device::redeem(&issuer, client, &fields)?)?,
        Grant::Refresh => person(&issuer, client, refresh(&issuer, client, &fields)?)?,
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)))
}

fn machine(
    issuer: &Issuer,
    client: &RegisteredClient,
    fields: &Fields,
) -> Result<Value, TokenError> {
    // A client without a secret has proven nothing and cannot speak for itself.
    if client.secret.is_none() {
        return Err(TokenError::UnauthorizedClient);
    }
    let scopes = granted(&client.scopes, fields.get("scope"))?;
    access(issuer, &client.id, &client.id, &scopes, &[])
}

fn person(
    issuer: &Issuer,
    client: &RegisteredClient,
    granted: GrantRecord,
) -> Result<Value, TokenError> {
    let user = issuer
        .person(&granted.user)
        .ok_or(TokenError::InvalidGrant("the person is not known any more"))?;
    let mut answer = access(issuer, &client.id, &user.name, &granted.scopes, &user.groups)?;
    if granted.scopes.iter().any(|scope| scope == "openid") {
        let identity = issuer.identity(&client.id, &user, granted.nonce.as_deref());
        answer["id_token"] = issuer.sign(&identity)?.into();
    }
    if client.grants.contains(&Grant::Refresh) {
        let value = secret();
        let digest = digest_of(&value);
        issuer
            .known
            .change(|_| Ok::<_, TokenError>((Some(Event::RefreshGiven { digest, granted }), ())))?;
        answer["refresh_token"] = value.into();
    }
    Ok(answer)
}

fn access(
    issuer: &Issuer,
    client: &str,
    subject: &str,
    scopes: &[String],
    groups: &[String],
) -> Result<Value, TokenError> {
    let claims = issuer.claims(client, subject, scopes, groups);
    Ok(json!({
        "access_token": issuer.sign(&claims)?,
        "token_type": "Bearer",
        "expires_in": issuer.lifetime().as_secs(),
        "scope": claims.scope,
    }))
}

/// Trades a refresh token, which works once, for what it stands for.
fn refresh(
    issuer: &Issuer,
    client: &RegisteredClient,
    fields: &Fields,
) -> Result<GrantRecord, TokenError> {
    let digest = digest_of(fields.required("refresh_token")?);
    let mut kept = issuer.known.change(|known| {
        let kept = known.refreshes.get(&digest).filter(|kept| kept.client == client.id).cloned();
        let kept =
            kept.ok_or(TokenError::InvalidGrant("the refresh token is not known or was used"))?;
        Ok::<_, TokenError>((Some(Event::RefreshUsed { digest }), kept))
    })?;
    kept.scopes = granted(&kept.scopes, fields.get("scope"))?;
    Ok(kept)
}

/// What a person may grant to a client, of what it asked for.
pub(super) fn granted_to(
    client: &RegisteredClient,
    user: &Person,
    asked: Option<&str>,
) -> Result<Vec<String>, TokenError> {
    let mut allowed: Vec<String> =
        user.scopes.iter().filter(|scope| client.scopes.contains(scope)).cloned().collect();
    if asked.is_some_and(|asked| !asked.trim().is_empty()) {
        allowed.extend(PROTOCOL.map(str::to_owned));
    }
    granted(&allowed, asked)
}

/// The requested scopes, or all allowed ones when none were requested.
fn granted(allowed: &[String], asked: Option<&str>) -> Result<Vec<String>, TokenError> {
    let mut asked: Vec<String> =
        asked.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let mut seen = std::collections::BTreeSet::new();
    asked.retain(|scope| seen.insert(scope.clone()));
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
    pub(super) fn new(
        form: Result<Form<Vec<(String, String)>>, FormRejection>,
    ) -> Result<Self, TokenError> {
        let Form(fields) =
            form.map_err(|_| TokenError::InvalidRequest("the body is not a URL-encoded form"))?;
        Self::from_pairs(fields)
    }

    pub(super) fn from_pairs(fields: Vec<(String, String)>) -> Result<Self, TokenError> {
        let twice = fields
            .iter()
            .enumerate()
            .any(|(at, (name, _))| fields[..at].iter().any(|(earlier, _)| earlier == name));
        if twice {
            return Err(TokenError::InvalidRequest("a field is given twice"));
        }
        Ok(Self(fields))
    }

    pub(super) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn required(&self, name: &'static str) -> Result<&str, TokenError> {
        self.get(name).ok_or(TokenError::InvalidRequest("a required field is missing"))
    }
}
