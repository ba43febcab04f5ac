//! Bearer tokens: JSON web tokens that we sign and check ourselves.
//!
//! A token names the uid of its cluster, so it does not open a later cluster of the same name.

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Identity;

/// Makes and checks tokens.
pub(crate) struct Tokens {
    key: hmac::Key,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    sub: String,
    groups: Vec<String>,
    /// The uid of the cluster.
    aud: String,
    /// The uid of the service account: the token ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
}

impl Tokens {
    /// Tokens signed with this secret.
    pub(crate) fn new(secret: &[u8]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret) }
    }

    /// A token for one cluster, valid until the given time or for ever.
    pub(crate) fn issue(&self, cluster: &str, who: &Identity, until: Option<Timestamp>) -> String {
        self.sign(cluster, who, None, until)
    }

    /// A token of a service account, valid until the given time and no longer than the account of this uid is there.
    pub(crate) fn issue_to_account(
        &self,
        cluster: &str,
        who: &Identity,
        uid: &str,
        until: Timestamp,
    ) -> String {
        self.sign(cluster, who, Some(uid.to_owned()), Some(until))
    }

    fn sign(
        &self,
        cluster: &str,
        who: &Identity,
        account: Option<String>,
        until: Option<Timestamp>,
    ) -> String {
        let claims = Claims {
            sub: who.user.clone(),
            groups: who.groups.clone(),
            aud: cluster.to_owned(),
            account,
            exp: until.map(Timestamp::as_second),
        };
        let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
        let claims = serde_json::to_vec(&claims).unwrap_or_default();
        let signed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims));
        let signature = hmac::sign(&self.key, signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// Who the token stands for, if it is ours, for this cluster, and still valid. `is_there` says whether a service account, by name
    /// and uid, still exists.
    pub(crate) fn check(
        &self,
        cluster: &str,
        token: &str,
        now: Timestamp,
        is_there: impl Fn(&str, &str) -> bool,
    ) -> Option<Identity> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&self.key, signed.as_bytes(), &signature).ok()?;
        let claims = URL_SAFE_NO_PAD.decode(signed.split_once('.')?.1).ok()?;
        let claims: Claims = serde_json::from_slice(&claims).ok()?;
        let valid = claims.aud == cluster
            && claims.exp.is_none_or(|until| now.as_second() < until)
            && claims.account.as_deref().is_none_or(|uid| is_there(&claims.sub, uid));
        valid.then_some(Identity { user: claims.sub, groups: claims.groups })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_its_cluster_until_it_expires() {
        let tokens = Tokens::new(b"secret");
        let who = Identity::admin("me");
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let token = tokens.issue("one", &who, Some(noon));

        let second = jiff::SignedDuration::from_secs(1);
        let never = |_: &str, _: &str| false;
        assert_eq!(tokens.check("one", &token, noon - second, never), Some(who));
        assert_eq!(tokens.check("one", &token, noon, never), None);
        assert_eq!(tokens.check("two", &token, noon - second, never), None);
        assert_eq!(Tokens::new(b"other").check("one", &token, noon - second, never), None);
        assert_eq!(tokens.check("one", &token[1..], noon - second, never), None);
    }

    #[test]
    fn a_token_of_a_service_account_ends_with_that_account() {
        let tokens = Tokens::new(b"secret");
        let who = Identity { user: "system:serviceaccount:n:a".into(), groups: Vec::new() };
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let before = noon - jiff::SignedDuration::from_secs(1);
        let token = tokens.issue_to_account("one", &who, "u-1", noon);
        let check = |there: &str| {
            tokens
                .check("one", &token, before, |user, uid| (user, uid) == (who.user.as_str(), there))
        };

        assert_eq!(check("u-1"), Some(who.clone()));
        assert_eq!(check("u-2"), None);
    }
}
