//! Who issues the tokens that a cluster accepts.

use serde::{Deserialize, Serialize};

/// The signing algorithms that an issuer may use.
pub const SIGNING_ALGORITHMS: [&str; 9] =
    ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"];

/// An issuer and how its tokens are read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Oidc {
    /// For whom tokens must be made out.
    #[serde(rename = "clientID", deserialize_with = "super::null_is_empty")]
    pub client_id: String,
    /// The claim that holds the groups.
    #[serde(deserialize_with = "super::null_is_empty")]
    pub groups_claim: String,
    /// Where the issuer lives.
    #[serde(rename = "issuerURL", deserialize_with = "super::null_is_empty")]
    pub issuer_url: String,
    /// How tokens may be signed.
    #[serde(deserialize_with = "super::null_is_empty")]
    pub signing_algs: Vec<String>,
    /// The claim that holds the user.
    #[serde(deserialize_with = "super::null_is_empty")]
    pub username_claim: String,
    /// The prefix of user names.
    #[serde(deserialize_with = "super::null_is_empty")]
    pub username_prefix: String,
}

impl Oidc {
    /// Whether anything is said at all: an object of empty fields says nothing.
    pub fn is_provided(&self) -> bool {
        *self != Self::default()
    }

    /// This issuer, with what it leaves out taken from another one; client and address are never taken over.
    pub fn over(&self, other: &Self) -> Self {
        let filled = |own: &String, other: &String| {
            if own.is_empty() { other.clone() } else { own.clone() }
        };
        Self {
            client_id: self.client_id.clone(),
            issuer_url: self.issuer_url.trim_end_matches('/').to_owned(),
            groups_claim: filled(&self.groups_claim, &other.groups_claim),
            signing_algs: if self.signing_algs.is_empty() {
                other.signing_algs.clone()
            } else {
                self.signing_algs.clone()
            },
            username_claim: filled(&self.username_claim, &other.username_claim),
            username_prefix: filled(&self.username_prefix, &other.username_prefix),
        }
    }
}
