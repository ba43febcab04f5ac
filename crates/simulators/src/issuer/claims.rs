//! What a token says, and how it is signed.

use jsonwebtoken::{Algorithm, Header, encode};
use serde::Serialize;
use uuid::Uuid;

use super::Issuer;

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
        let lifetime = i64::try_from(self.settings.lifetime.as_secs()).unwrap_or(i64::MAX);
        Claims {
            iss: self.settings.url.clone(),
            sub: subject.into(),
            aud: self.settings.audience.clone(),
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

    /// Signs claims.
    pub fn sign(&self, claims: &Claims) -> Result<String, jsonwebtoken::errors::Error> {
        let mut header = Header::new(Algorithm::RS256);
        header.kid = Some(self.key.id().to_owned());
        encode(&header, claims, self.key.private())
    }
}
