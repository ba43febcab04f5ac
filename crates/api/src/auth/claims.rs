//! The claims of a token, and their check.

use std::{collections::BTreeSet, iter, time::Duration};

use base::Clock;
use jiff::Timestamp;
use jsonwebtoken::{dangerous::insecure_decode_claims, errors};
use serde::Deserialize;
use serde_json::Value;

use super::{TokenRejection, TrustedIssuer, scope::ANY_TENANT};
use crate::unique_json;

/// The principal of a valid token.
#[derive(Debug, Clone)]
pub struct Principal {
    /// The issuer that vouches for it.
    pub issuer: String,
    /// The subject.
    pub subject: String,
    /// The scopes of its token and of its groups.
    pub scopes: BTreeSet<String>,
    /// The groups it is in.
    pub groups: BTreeSet<String>,
    /// The only tenant it may speak for; `None` when the token names none.
    pub tenant: Option<String>,
    /// Until when.
    pub until: Timestamp,
    pub(super) clock: Clock,
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
    #[serde(default)]
    aud: WordList,
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
    #[serde(default)]
    scp: WordList,
    #[serde(default)]
    scope: WordList,
    #[serde(default)]
    groups: WordList,
    /// Some issuers say in here what kind of token it is.
    typ: Option<String>,
    /// All other claims, among them the tenant.
    #[serde(flatten, deserialize_with = "unique_json::object")]
    others: Value,
}

/// One string, of words, or a list of words.
#[derive(Deserialize)]
#[serde(untagged)]
enum WordList {
    List(Vec<String>),
    Text(String),
}

impl Default for WordList {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl WordList {
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
    struct IssuerClaim {
        iss: String,
    }
    insecure_decode_claims::<IssuerClaim>(token).map(|named| named.iss)
}

impl Claims {
    /// Checks everything that is left to check once the signature is right.
    pub(super) fn checked(
        self,
        trusted: &TrustedIssuer,
        clock: &Clock,
        leeway: Duration,
    ) -> Result<Principal, TokenRejection> {
        let now = clock.now().as_duration().as_secs_f64();
        let leeway = leeway.as_secs_f64();
        if self.iss != trusted.issuer {
            return Err(TokenRejection::token("wrong issuer"));
        }
        let audiences = self.aud.whole();
        if let Some(wanted) = &trusted.audiences
            && !audiences.iter().any(|audience| wanted.contains(audience))
        {
            return Err(TokenRejection::token(format!(
                "it is for {audiences:?}, access.issuers wants one of {wanted:?} for {}",
                trusted.issuer
            )));
        }
        if self.exp + leeway <= now {
            return Err(TokenRejection::token("expired"));
        }
        if [self.nbf, self.iat].into_iter().flatten().any(|from| from - leeway > now) {
            return Err(TokenRejection::token("not yet valid"));
        }
        if self.sub.is_empty() {
            return Err(TokenRejection::token("no subject"));
        }
        let tenant = tenant(self.others.get(&trusted.tenant_claim))?;
        let refresh = |kind: &String| {
            ["refresh", "offline", "logout"].contains(&kind.to_lowercase().as_str())
        };
        if self.typ.as_ref().is_some_and(refresh) {
            return Err(TokenRejection::token("wrong type"));
        }
        let own = self.scp.words().into_iter().chain(self.scope.words()).collect();
        let groups = self.groups.whole().into_iter().collect();
        Ok(Principal {
            issuer: self.iss,
            subject: self.sub,
            scopes: scopes(own, &groups, tenant.is_some(), trusted),
            groups,
            tenant,
            until: moment(self.exp),
            clock: clock.clone(),
        })
    }
}

/// The tenant that a token names. An empty one could mean one tenant or all of them.
fn tenant(claim: Option<&Value>) -> Result<Option<String>, TokenRejection> {
    match claim {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => {
            Err(TokenRejection::token("empty tenant"))
        }
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(TokenRejection::token("the tenant is not a text")),
    }
}

/// What a token allows: its own scopes, and those of each group.
///
/// `tenants:any` of a group is for the scopes of that group alone: a caller who may read the runtimes of all accounts may
/// not therefore remove them with a scope that the token has for no account.
fn scopes(
    own: BTreeSet<String>,
    groups: &BTreeSet<String>,
    has_tenant: bool,
    trusted: &TrustedIssuer,
) -> BTreeSet<String> {
    let of_groups = groups.iter().filter_map(|group| trusted.groups.get(group)).cloned();
    let mut sources: Vec<_> = iter::once(own).chain(of_groups).collect();
    if !has_tenant {
        if trusted.any_tenant {
            for source in &mut sources {
                source.insert(ANY_TENANT.to_owned());
            }
        }
        if sources.iter().any(|source| source.contains(ANY_TENANT)) {
            sources.retain(|source| source.contains(ANY_TENANT));
        }
    }
    sources.into_iter().flatten().collect()
}

fn moment(seconds: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "a cast of a float stops at the ends")]
    let seconds = seconds as i64;
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}
