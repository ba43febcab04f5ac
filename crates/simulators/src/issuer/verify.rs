//! Checks a token as any service would: by the published keys.

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;

use super::Issuer;

/// Whom a good token speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Its subject.
    pub subject: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// The groups its subject is in.
    pub groups: Vec<String>,
}

/// A token that is not good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// It is no token of this issuer, or its key is withdrawn.
    #[error("the token is not one of this issuer")]
    Foreign,
    /// It was good once.
    #[error("the token has expired")]
    Expired,
}

#[derive(Deserialize)]
struct Found {
    sub: String,
    exp: i64,
    iat: i64,
    #[serde(default)]
    scp: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
}

impl Issuer {
    /// Checks a token.
    pub fn verify(&self, token: &str) -> Result<Verified, Unverified> {
        let header = decode_header(token).map_err(|_| Unverified::Foreign)?;
        let keys = self.published();
        let key = keys.iter().find(|key| Some(key.id()) == header.kid.as_deref());
        let key = key.and_then(|key| DecodingKey::from_jwk(key.public()).ok());
        let key = key.ok_or(Unverified::Foreign)?;
        let mut rules = Validation::new(Algorithm::RS256);
        rules.set_audience(&self.settings.audience);
        rules.set_issuer(&[self.url()]);
        // Times are compared below, by the clock that issued them.
        rules.validate_exp = false;
        let found = decode::<Found>(token, &key, &rules).map_err(|_| Unverified::Foreign)?.claims;
        let expired = self.known.read(|known| known.expired_before);
        let now = self.clock.now().as_second();
        if now >= found.exp || expired.is_some_and(|at| found.iat < at.as_second()) {
            return Err(Unverified::Expired);
        }
        Ok(Verified { subject: found.sub, scopes: found.scp, groups: found.groups })
    }
}
