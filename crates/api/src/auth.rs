//! Tokens are checked in this process, against configured issuers only.
//!
//! What a reader would get wrong: `iss` is read before the signature is checked, but only to pick
//! which configured issuer's keys to check it with. Nothing in a token leads to an address or a key.

mod basic;
mod claims;
mod guard;
mod guesses;
mod key;
mod keys;
pub mod scope;

use std::time::Duration;

use base::{Clock, PlaintextHosts};
use jsonwebtoken::{Validation, decode, decode_header};
use url::Url;

pub(crate) use basic::Platform;
pub use basic::{Credentials, RequireBasic};
pub use claims::Principal;
pub use guard::RequireScope;
pub use guesses::PeerAddress;

use claims::Claims;
use keys::{Keys, NoKey};

/// How far clocks may differ. No setting may widen it beyond a minute.
const LEEWAY: Duration = Duration::from_secs(30);
/// The longest token that is looked at.
const LONGEST: usize = 16 * 1024;
/// The types of token that may open a door. Issuers for people call theirs `JWT`, or nothing.
const TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];

/// An issuer whose tokens are accepted.
#[derive(Debug, Clone)]
pub struct Trusted {
    /// Its name, as in `iss`.
    pub issuer: String,
    /// Whom its tokens must be for: one of these.
    pub audiences: Vec<String>,
    /// Where its keys are; `None`: where its discovery document says.
    pub keys: Option<Url>,
    /// Which hosts may be asked for keys without TLS.
    pub plaintext: PlaintextHosts,
}

/// Checks tokens.
#[derive(Debug)]
pub struct Verifier {
    issuers: Vec<(Trusted, Keys)>,
    clock: Clock,
}

/// Why a token opens no door. For the log only: callers are not told.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// It is not a token of a kind that is accepted.
    #[error("the token is not acceptable: {0}")]
    Token(&'static str),
    /// Its signature or form is wrong.
    #[error("the token does not verify")]
    Signature(#[source] jsonwebtoken::errors::Error),
    /// The issuer's keys cannot be had.
    #[error("the keys of {0} cannot be fetched")]
    Unavailable(String),
}

impl Verifier {
    /// Accepts tokens of these issuers. Keys are fetched when the first token comes.
    pub fn new(issuers: Vec<Trusted>, clock: Clock) -> Result<Self, reqwest::Error> {
        let http = keys::client()?;
        let issuers = issuers
            .into_iter()
            .map(|trusted| {
                let keys = Keys::new(&trusted, http.clone(), clock.clone());
                (trusted, keys)
            })
            .collect();
        Ok(Self { issuers, clock })
    }

    /// The clock that tokens are checked by.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Whom a token speaks for.
    pub async fn verify(&self, token: &str) -> Result<Principal, Denied> {
        if token.len() > LONGEST {
            return Err(Denied::Token("too long"));
        }
        let header = decode_header(token).map_err(Denied::Signature)?;
        if header.crit.is_some() {
            return Err(Denied::Token("critical extensions"));
        }
        let token_type = header.typ.unwrap_or_else(|| TYPES[0].into()).to_ascii_lowercase();
        if !TYPES.contains(&token_type.as_str()) {
            return Err(Denied::Token("wrong type"));
        }
        let key_id = header.kid.ok_or(Denied::Token("no key id"))?;
        let (trusted, keys) = self.issuer_of(token)?;

        let key = keys.find(&key_id).await.map_err(|missing| match missing {
            NoKey::Unknown => Denied::Token("unknown key"),
            NoKey::Unavailable => Denied::Unavailable(trusted.issuer.clone()),
        })?;
        if !key.algorithms.contains(&header.alg) {
            return Err(Denied::Token("algorithm does not fit the key"));
        }
        let claims = decode::<Claims>(token, &key.key, &signature_only(header.alg))
            .map_err(Denied::Signature)?
            .claims;
        claims.checked(trusted, &self.clock, LEEWAY)
    }

    fn issuer_of(&self, token: &str) -> Result<&(Trusted, Keys), Denied> {
        let named = claims::issuer(token).map_err(Denied::Signature)?;
        self.issuers
            .iter()
            .find(|(trusted, _)| trusted.issuer == named)
            .ok_or(Denied::Token("unknown issuer"))
    }
}

/// The claims are checked by [`Claims::checked`], on the clock that was passed in.
fn signature_only(algorithm: jsonwebtoken::Algorithm) -> Validation {
    let mut rules = Validation::new(algorithm);
    rules.required_spec_claims.clear();
    rules.validate_exp = false;
    rules.validate_nbf = false;
    rules.validate_aud = false;
    rules
}
