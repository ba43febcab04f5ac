//! Checks a token as any service would: by the published keys.

use std::sync::{Arc, PoisonError};

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;

use super::{Issuer, SigningKey};

/// Whom a good token speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSubject {
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
struct TokenClaims {
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
    pub fn verify(&self, token: &str) -> Result<TokenSubject, Unverified> {
        let found = self.signed(token, &self.published())?;
        let expired = self.known.read(|known| known.expired_before);
        if expired.is_some_and(|at| found.iat < at.as_second()) {
            return Err(Unverified::Expired);
        }
        Ok(found.into())
    }

    /// Checks a token for the landscape's own doors: trouble that ends tokens or withdraws keys does not count, because
    /// the caller that made it must be able to end it.
    pub(crate) fn verify_despite_trouble(&self, token: &str) -> Result<TokenSubject, Unverified> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.signed(token, &keys).map(TokenSubject::from)
    }

    /// Whether a token is signed by this issuer and still good, for whomever it is meant.
    pub(crate) fn is_genuine(&self, token: &str) -> bool {
        let Ok(header) = decode_header(token) else { return false };
        let keys = self.published();
        let key = keys.iter().find(|key| Some(key.id()) == header.kid.as_deref());
        let Some(key) = key.and_then(|key| DecodingKey::from_jwk(key.public()).ok()) else {
            return false;
        };
        let mut rules = Validation::new(Algorithm::RS256);
        rules.validate_aud = false;
        rules.validate_exp = false;
        let found = decode::<TokenClaims>(token, &key, &rules);
        found.is_ok_and(|found| self.clock.now().as_second() < found.claims.exp)
    }

    fn signed(&self, token: &str, keys: &[Arc<SigningKey>]) -> Result<TokenClaims, Unverified> {
        let header = decode_header(token).map_err(|_| Unverified::Foreign)?;
        let key = keys.iter().find(|key| Some(key.id()) == header.kid.as_deref());
        let key = key.and_then(|key| DecodingKey::from_jwk(key.public()).ok());
        let key = key.ok_or(Unverified::Foreign)?;
        let mut rules = Validation::new(Algorithm::RS256);
        // ID tokens are for the client that somebody logs in with.
        let clients = self.known.read(|known| self.clients(known)).into_iter().map(|it| it.id);
        let audiences: Vec<String> =
            self.settings.audience.iter().cloned().chain(clients).collect();
        rules.set_audience(&audiences);
        rules.set_issuer(&[self.url()]);
        // Times are compared below, by the clock that issued them.
        rules.validate_exp = false;
        let found =
            decode::<TokenClaims>(token, &key, &rules).map_err(|_| Unverified::Foreign)?.claims;
        if self.clock.now().as_second() >= found.exp {
            return Err(Unverified::Expired);
        }
        Ok(found)
    }
}

impl From<TokenClaims> for TokenSubject {
    fn from(found: TokenClaims) -> Self {
        Self { subject: found.sub, scopes: found.scp, groups: found.groups }
    }
}
