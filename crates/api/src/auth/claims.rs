//! What a token says, and whether that is enough.

use std::{collections::BTreeSet, time::Duration};

use base::Clock;
use jiff::Timestamp;
use jsonwebtoken::{dangerous::insecure_decode_claims, errors};
use serde::Deserialize;

use super::{Denied, Trusted};

/// Whom a valid token speaks for.
#[derive(Debug, Clone)]
pub struct Principal {
    /// The issuer that vouches for it.
    pub issuer: String,
    /// Who it is.
    pub subject: String,
    /// What it may do.
    pub scopes: BTreeSet<String>,
    /// The groups it is in.
    pub groups: BTreeSet<String>,
    /// The only tenant it may speak for; `None` when the token names none.
    pub tenant: Option<String>,
    /// Until when.
    pub until: Timestamp,
    clock: Clock,
}

impl Principal {
    /// Comes back when the token has run out.
    pub fn runs_out(&self) -> impl Future<Output = ()> + Send + use<> {
        let (clock, until) = (self.clock.clone(), self.until);
        async move { clock.sleep_until(until).await }
    }
}

/// The claims of a token. Missing required ones fail the reading.
#[derive(Deserialize)]
pub(super) struct Claims {
    iss: String,
    sub: String,
    aud: Words,
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
    #[serde(default)]
    scp: Words,
    #[serde(default)]
    scope: Words,
    #[serde(default)]
    groups: Words,
    tenant: Option<String>,
    /// Some issuers say in here what kind of token it is.
    typ: Option<String>,
}

/// One string, of words, or a list of words.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    Text(String),
}

impl Default for Words {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Words {
    fn whole(self) -> Vec<String> {
        match self {
            Self::List(list) => list,
            Self::Text(text) => vec![text],
        }
    }

    fn words(self) -> Vec<String> {
        match self {
            Self::List(list) => list,
            Self::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

/// The issuer that an unverified token names.
pub(super) fn issuer(token: &str) -> Result<String, errors::Error> {
    #[derive(Deserialize)]
    struct Named {
        iss: String,
    }
    insecure_decode_claims::<Named>(token).map(|named| named.iss)
}

impl Claims {
    /// Checks everything that is left to check once the signature is right.
    pub(super) fn checked(
        self,
        trusted: &Trusted,
        clock: &Clock,
        leeway: Duration,
    ) -> Result<Principal, Denied> {
        let now = clock.now().as_duration().as_secs_f64();
        let leeway = leeway.as_secs_f64();
        if self.iss != trusted.issuer {
            return Err(Denied::Token("wrong issuer"));
        }
        if !self.aud.whole().iter().any(|audience| trusted.audiences.contains(audience)) {
            return Err(Denied::Token("wrong audience"));
        }
        if self.exp + leeway <= now {
            return Err(Denied::Token("expired"));
        }
        if [self.nbf, self.iat].into_iter().flatten().any(|from| from - leeway > now) {
            return Err(Denied::Token("not yet valid"));
        }
        if self.sub.is_empty() {
            return Err(Denied::Token("no subject"));
        }
        // It could mean one tenant or all of them.
        if self.tenant.as_deref().is_some_and(|tenant| tenant.trim().is_empty()) {
            return Err(Denied::Token("empty tenant"));
        }
        let refresh = |kind: &String| {
            ["refresh", "offline", "logout"].contains(&kind.to_lowercase().as_str())
        };
        if self.typ.as_ref().is_some_and(refresh) {
            return Err(Denied::Token("wrong type"));
        }
        Ok(Principal {
            issuer: self.iss,
            subject: self.sub,
            scopes: self.scp.words().into_iter().chain(self.scope.words()).collect(),
            groups: self.groups.whole().into_iter().collect(),
            tenant: self.tenant,
            until: moment(self.exp),
            clock: clock.clone(),
        })
    }
}

fn moment(seconds: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "a cast of a float stops at the ends")]
    let seconds = seconds as i64;
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}
