//! The claims of a token, and its signature.

use jsonwebtoken::{Algorithm, Header, encode};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Issuer, registered_clients::Person};

/// The claims of one access token.
#[derive(Debug, Clone, Serialize)]
pub struct Claims {
    /// Who issued it.
    pub iss: String,
    /// Whom it speaks for.
    pub sub: String,
    /// Whom it is for.
    pub aud: Vec<String>,
    /// Until when it is valid, in seconds.
    pub exp: i64,
    /// When it was issued, in seconds.
    pub iat: i64,
    /// From when on it is valid, in seconds.
    pub nbf: i64,
    /// Its own name.
    pub jti: String,
    /// The client that asked for it.
    pub client_id: String,
    /// What it allows, as a list.
    pub scp: Vec<String>,
    /// What it allows, as one string.
    pub scope: String,
    /// The groups its subject is in.
    pub groups: Vec<String>,
}

impl Issuer {
    /// The claims of a new token.
    pub fn claims(
        &self,
        client: &str,
        subject: &str,
        scopes: &[String],
        groups: &[String],
    ) -> Claims {
        let now = self.clock.now().as_second();
        let audience = self.known.read(|known| known.audience.clone());
        let lifetime = i64::try_from(self.lifetime().as_secs()).unwrap_or(i64::MAX);
        Claims {
            iss: self.settings.url.clone(),
            sub: subject.into(),
            aud: audience.unwrap_or_else(|| self.settings.audience.clone()),
            exp: now.saturating_add(lifetime),
            iat: now,
            nbf: now,
            jti: Uuid::new_v4().to_string(),
            client_id: client.into(),
            scp: scopes.to_vec(),
            scope: scopes.join(" "),
            groups: groups.to_vec(),
        }
    }

    /// What a client learns about the person who logged in.
    pub(super) fn identity(&self, client: &str, user: &Person, nonce: Option<&str>) -> Value {
        let claims = self.claims(client, &user.name, &[], &user.groups);
        let mut identity = json!({
            "iss": claims.iss,
            "sub": claims.sub,
            "aud": client,
            "exp": claims.exp,
            "iat": claims.iat,
            "preferred_username": user.name,
            "login_name": user.name,
            "email": user.address(),
            "email_verified": true,
            "groups": claims.groups,
        });
        if let Some(nonce) = nonce {
            identity["nonce"] = nonce.into();
        }
        identity
    }

    /// Signs claims.
    pub fn sign(&self, claims: &impl Serialize) -> Result<String, jsonwebtoken::errors::Error> {
        let key = self.signing_key();
        let mut header = Header::new(Algorithm::RS256);
        header.kid = Some(key.id().to_owned());
        encode(&header, claims, key.private())
    }
}
