//! What is installed in a cluster.

use async_graphql::Enum;
use serde::{Deserialize, Serialize};

/// A Kyma installation. Override values may be secrets, so it is only ever stored sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kyma {
    /// The release.
    pub version: String,
    /// Its size.
    #[serde(default)]
    pub profile: Option<Profile>,
    /// What is installed, in this order.
    pub components: Vec<Component>,
    /// Overrides for all components.
    #[serde(default)]
    pub configuration: Vec<Entry>,
    /// What happens to overrides that are there already.
    #[serde(default)]
    pub conflict_strategy: Option<ConflictStrategy>,
}

/// One component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    pub component: String,
    /// Where it is installed.
    pub namespace: String,
    /// Its overrides.
    #[serde(default)]
    pub configuration: Vec<Entry>,
    /// Where its chart comes from, unless it is in the release.
    #[serde(default)]
    pub source_url: Option<String>,
    /// What happens to overrides that are there already.
    #[serde(default)]
    pub conflict_strategy: Option<ConflictStrategy>,
}

/// One override.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What it overrides.
    pub key: String,
    /// With what.
    pub value: String,
    /// Whether nobody should see it.
    #[serde(default)]
    pub secret: bool,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = if self.secret { "[REDACTED]" } else { &self.value };
        f.debug_struct("Entry").field("key", &self.key).field("value", &value).finish()
    }
}

/// The size of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Enum)]
#[serde(rename_all = "lowercase")]
#[graphql(name = "KymaProfile", rename_items = "PascalCase")]
pub enum Profile {
    /// For trying out.
    Evaluation,
    /// For real.
    Production,
}

/// What happens to overrides that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Enum)]
#[graphql(rename_items = "PascalCase")]
pub enum ConflictStrategy {
    /// New values are put over old ones.
    Merge,
    /// Old values go.
    Replace,
}

impl Kyma {
    /// The component that connects a runtime with the Director.
    pub const AGENT: &'static str = "compass-runtime-agent";
}
