//! Why an order is not accepted, in words that its author can use.

/// A broken rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum Rule {
    /// The parameters are there and have the right types.
    Form,
    /// Free clusters come from enabled providers only.
    FreeProvider,
    /// Trials name a provider that there is.
    TrialProvider,
    /// Trials name a part of the world that there is.
    TrialRegion,
    /// The fewest nodes are not more than the most.
    AutoScaler,
    /// An issuer is complete.
    Oidc,
    /// Texts and lists are not too long.
    Bounds,
    /// The platform's region is one that there is.
    PlatformRegion,
    /// The published schema.
    Schema,
    /// Every administrator is named.
    Administrators,
    /// Nodes can be replaced, and have a disk.
    Nodes,
    /// The plan alone decides about size.
    FixedSize,
    /// Clusters are for something that Gardener knows.
    Purpose,
    /// Zones lie in the region and are not too many.
    Zones,
    /// EU access is for invited accounts.
    EuAccess,
    /// A kubeconfig leads somewhere.
    Kubeconfig,
    /// Only inactive trials expire.
    Expiration,
}

/// An order that is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{description}")]
pub struct Refusal {
    /// The broken rule.
    pub rule: Rule,
    /// Where: JSON pointers into the parameters; empty when it is not about them.
    pub fields: Vec<String>,
    /// The description for its author.
    pub description: String,
}

impl Refusal {
    pub(super) fn new(rule: Rule, field: &str, description: impl Into<String>) -> Self {
        let fields = if field.is_empty() { vec![] } else { vec![field.to_owned()] };
        Self { rule, fields, description: description.into() }
    }
}
