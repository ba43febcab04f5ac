//! What a token says, and whether that is enough.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, iter,
    time::Duration,
};

use base::Clock;
use jiff::Timestamp;
use jsonwebtoken::{dangerous::insecure_decode_claims, errors};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::Value;

use super::{Denied, Trusted, scope::ANY_TENANT};

/// Whom a valid token speaks for.
#[derive(Debug, Clone)]
pub struct Principal {
    /// The issuer that vouches for it.
    pub issuer: String,
    /// Who it is.
    pub subject: String,
    /// What it may do, by its token or by its groups.
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
    /// Some issuers say in here what kind of token it is.
    typ: Option<String>,
    /// All other claims, among them the tenant.
    #[serde(flatten)]
    others: Others,
}

/// Claims by name, each given once.
struct Others(BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for Others {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
            type Value = Others;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("claims")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Others, M::Error> {
                let mut claims = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if claims.insert(name, value).is_some() {
                        return Err(M::Error::custom("a claim is given twice"));
                    }
                }
                Ok(Others(claims))
            }
        }
        input.deserialize_map(Once)
    }
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
            return Err(Denied::token("wrong issuer"));
        }
        let audiences = self.aud.whole();
        if let Some(wanted) = &trusted.audiences
            && !audiences.iter().any(|audience| wanted.contains(audience))
        {
            return Err(Denied::token(format!(
                "it is for {audiences:?}, access.issuers wants one of {wanted:?} for {}",
                trusted.issuer
            )));
        }
        if self.exp + leeway <= now {
            return Err(Denied::token("expired"));
        }
        if [self.nbf, self.iat].into_iter().flatten().any(|from| from - leeway > now) {
            return Err(Denied::token("not yet valid"));
        }
        if self.sub.is_empty() {
            return Err(Denied::token("no subject"));
        }
        let tenant = tenant(self.others.0.get(&trusted.tenant_claim))?;
        let refresh = |kind: &String| {
            ["refresh", "offline", "logout"].contains(&kind.to_lowercase().as_str())
        };
        if self.typ.as_ref().is_some_and(refresh) {
            return Err(Denied::token("wrong type"));
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
fn tenant(claim: Option<&Value>) -> Result<Option<String>, Denied> {
    match claim {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Err(Denied::token("empty tenant")),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Denied::token("the tenant is not a text")),
    }
}

/// What a token allows: its own scopes, and those of each group.
///
/// `tenants:any` of a group is for the scopes of that group alone: somebody who may read the runtimes of all accounts may
/// not therefore remove them with a scope that the token has for no account.
fn scopes(
    own: BTreeSet<String>,
    groups: &BTreeSet<String>,
    has_tenant: bool,
    trusted: &Trusted,
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
