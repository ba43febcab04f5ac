//! The words that service plans are described with.
//!
//! Which plans there are is data (`config/catalog`); what a program has to know by heart is only here. A plan is never
//! recognised by its name: its [`Kind`] says what is special about it.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// Whose machines a cluster runs on. The words are stored and sent; they are also the account pool's.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Provider {
    /// Amazon Web Services.
    Aws,
    /// Microsoft Azure.
    Azure,
    /// Google Cloud.
    Gcp,
    /// SAP Converged Cloud.
    Openstack,
}

impl Provider {
    /// The word in cluster configurations and in the account pool: `aws`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The word in orders and in responses: `AWS`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Aws => "AWS",
            Self::Azure => "Azure",
            Self::Gcp => "GCP",
            Self::Openstack => "OpenStack",
        }
    }

    /// The provider that an order calls so; the spelling counts.
    pub fn from_label(label: &str) -> Option<Self> {
        Self::VARIANTS.iter().copied().find(|provider| provider.label() == label)
    }
}

/// What is special about a plan.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Display, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// The order chooses region and size.
    Managed,
    /// The order chooses the region at most; the platform's region chooses the provider.
    Free,
    /// The order chooses a provider and a part of the world at most; it ends after some days.
    Trial,
    /// The order brings a cluster; nothing is created and nothing removed but Kyma.
    OwnCluster,
}

impl Kind {
    /// Whether the plan alone decides how large a cluster is.
    pub fn has_fixed_size(self) -> bool {
        matches!(self, Self::Free | Self::Trial)
    }
}

/// How much of everything Kyma's components get.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Display, IntoStaticStr,
)]
pub enum Profile {
    /// Little: for trying things out.
    #[serde(alias = "evaluation")]
    Evaluation,
    /// Enough for real work.
    #[serde(alias = "production")]
    Production,
}

/// Whose provider account a plan's clusters are made in.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Display, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Accounts {
    /// One that belongs to the global account alone.
    Dedicated,
    /// One that many use.
    Shared,
    /// None is needed.
    None,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_read_back_from_both_of_their_words() {
        for provider in Provider::VARIANTS {
            assert_eq!(provider.as_str().parse(), Ok(*provider));
            assert_eq!(Provider::from_label(provider.label()), Some(*provider));
        }
        assert_eq!(Provider::from_label("azure"), None);
    }
}
