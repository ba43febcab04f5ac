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
mod peers;
pub mod scope;
mod spelling;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use axum::extract::Request;
use base::{Clock, PlaintextHosts};
use jsonwebtoken::{Validation, decode, decode_header};
use url::Url;

pub(crate) use basic::Platform;
pub use basic::{Credentials, RequireBasic};
pub use claims::Principal;
pub use guard::RequireScope;
pub use guesses::PeerAddress;
pub use peers::{Peer, Remote};

use claims::Claims;
use keys::{Keys, NoKey};

/// How far clocks may differ. No setting may widen it beyond a minute.
const LEEWAY: Duration = Duration::from_secs(30);
/// The longest token that is looked at.
const LONGEST: usize = 16 * 1024;
/// How much of a name that anybody can have written is logged.
const LONGEST_SHOWN: usize = 200;
/// The types of token that may open a door. Issuers for people call theirs `JWT`, or nothing.
const TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];

/// The claims that mean something else than a tenant.
pub const RESERVED_CLAIMS: [&str; 10] =
    ["iss", "sub", "aud", "exp", "nbf", "iat", "scp", "scope", "groups", "typ"];

/// An issuer whose tokens are accepted.
#[derive(Debug, Clone)]
pub struct TrustedIssuer {
    /// Its name, as in `iss`.
    pub issuer: String,
    /// Accepted audiences of its tokens; `None` when the audience is not checked.
    pub audiences: Option<Vec<String>>,
    /// The claim with the only tenant that a token speaks for; none of [`RESERVED_CLAIMS`].
    pub tenant_claim: String,
    /// Whether a token that names no tenant speaks for all of them, without the scope `tenants:any`.
    pub any_tenant: bool,
    /// The scopes of each group.
    pub groups: BTreeMap<String, BTreeSet<String>>,
    /// Where its keys are; `None`: where its discovery document says.
    pub keys: Option<Url>,
    /// Which hosts may be asked for keys without TLS.
    pub plaintext: PlaintextHosts,
}

/// Checks tokens, and knows the peers that need none.
#[derive(Debug)]
pub struct Verifier {
    issuers: Vec<(TrustedIssuer, Keys)>,
    peers: Vec<Peer>,
    clock: Clock,
}

/// Why a token is refused. For the log only: it is not in the answer.
#[derive(Debug, thiserror::Error)]
pub enum TokenRejection {
    /// It is not a token of a kind that is accepted.
    #[error("the token is not acceptable: {0}")]
    Token(Cow<'static, str>),
    /// Its signature or form is wrong.
    #[error("the token does not verify")]
    Signature(#[source] jsonwebtoken::errors::Error),
    /// The issuer's keys cannot be had.
    #[error("the keys of {0} cannot be fetched")]
    Unavailable(String),
}

impl TokenRejection {
    pub(super) fn token(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Token(why.into())
    }
}

impl Verifier {
    /// Accepts tokens of these issuers. Keys are fetched when the first token comes.
    pub fn new(issuers: Vec<TrustedIssuer>, clock: Clock) -> Result<Self, reqwest::Error> {
        let http = keys::client()?;
        let issuers = issuers
            .into_iter()
            .map(|trusted| {
                let keys = Keys::new(&trusted, http.clone(), clock.clone());
                (trusted, keys)
            })
            .collect();
        Ok(Self { issuers, peers: Vec::new(), clock })
    }

    /// Lets these services in when they send no token.
    #[must_use]
    pub fn trusting(self, peers: Vec<Peer>) -> Self {
        Self { peers, ..self }
    }

    /// The trusted peer that a request without a token comes from.
    pub(crate) fn peer(&self, request: &Request) -> Option<Principal> {
        peers::principal(&self.peers, request, &self.clock)
    }

    /// The clock that tokens are checked by.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The principal of a token.
    pub async fn verify(&self, token: &str) -> Result<Principal, TokenRejection> {
        if token.len() > LONGEST {
            return Err(TokenRejection::token("too long"));
        }
        let header = decode_header(token).map_err(TokenRejection::Signature)?;
        if header.crit.is_some() {
            return Err(TokenRejection::token("critical extensions"));
        }
        let token_type = header.typ.unwrap_or_else(|| TYPES[0].into()).to_ascii_lowercase();
        if !TYPES.contains(&token_type.as_str()) {
            return Err(TokenRejection::token("wrong type"));
        }
        let key_id = header.kid.ok_or(TokenRejection::token("no key id"))?;
        let (trusted, keys) = self.issuer_of(token)?;

        let key = keys.find(&key_id).await.map_err(|missing| match missing {
            NoKey::Unknown => TokenRejection::token("unknown key"),
            NoKey::Unavailable => TokenRejection::Unavailable(trusted.issuer.clone()),
        })?;
        if !key.algorithms.contains(&header.alg) {
            return Err(TokenRejection::token("algorithm does not fit the key"));
        }
        let claims = decode::<Claims>(token, &key.key, &signature_only(header.alg))
            .map_err(TokenRejection::Signature)?
            .claims;
        claims.checked(trusted, &self.clock, LEEWAY)
    }

    fn issuer_of(&self, token: &str) -> Result<&(TrustedIssuer, Keys), TokenRejection> {
        let named = claims::issuer(token).map_err(TokenRejection::Signature)?;
        self.issuers
            .iter()
            .find(|(trusted, _)| trusted.issuer == named)
            .ok_or_else(|| self.unknown(&named))
    }

    /// Says which configured issuer was probably meant. The name is not verified yet: anybody can have written it.
    fn unknown(&self, named: &str) -> TokenRejection {
        let named: String = named.chars().take(LONGEST_SHOWN).collect();
        let similar =
            |(trusted, _): &&(TrustedIssuer, Keys)| spelling::similar(&trusted.issuer, &named);
        match self.issuers.iter().find(similar) {
            Some((trusted, _)) => TokenRejection::token(format!(
                "its issuer is {named:?}, access.issuers has {:?}: the two must be spelled alike",
                trusted.issuer
            )),
            None => TokenRejection::token(format!("its issuer {named:?} is not in access.issuers")),
        }
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
