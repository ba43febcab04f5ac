//! What a caller may ask for, as it is sent, stored and given back.
//!
//! Absent and empty differ: an order without administrators is not the order with an empty list of them. What the broker
//! makes of an order is [`ResolvedOrder`].

mod object;
mod oidc;
mod resolved;
mod sensitive;

pub use oidc::{Oidc, SIGNING_ALGORITHMS};
pub use resolved::{Cluster, ResolvedOrder, Subnets, Zone};
pub use sensitive::Sensitive;

use serde::{Deserialize, Deserializer, Serialize};

/// The parameters of an order. Unknown ones are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Provisioning {
    /// The name that the owner gave the cluster.
    #[serde(deserialize_with = "null_is_empty")]
    pub name: String,
    /// The fewest nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_scaler_min: Option<i64>,
    /// The most nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_scaler_max: Option<i64>,
    /// How many nodes may be added at once while all are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<u32>,
    /// How many nodes may be missing while all are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<u32>,
    /// The type of every node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_type: Option<String>,
    /// The provider's region, or for trials a part of the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The purpose of the cluster, in Gardener's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The size of each node's disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_size_gb: Option<u32>,
    /// The zones of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Vec<String>>,
    /// The provider account to use, instead of one from the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_secret: Option<String>,
    /// Set by the broker, whatever was asked for.
    #[serde(rename = "licence_type", skip_serializing_if = "Option::is_none")]
    pub licence_type: Option<String>,
    /// Optional components of Kyma to install.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Vec<String>>,
    /// The version of Kyma, where orders may choose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kyma_version: Option<String>,
    /// The version whose overrides are used, where orders may choose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overrides_version: Option<String>,
    /// The administrators of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub administrators: Option<Vec<String>>,
    /// The provider of a trial, by its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The kubeconfig of a cluster that the order brings, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<Sensitive>,
    /// The Shoot of a cluster that the order brings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shoot_name: Option<String>,
    /// The domain of a cluster that the order brings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shoot_domain: Option<String>,
    /// The OIDC issuer of the cluster.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "object::optional")]
    pub oidc: Option<Oidc>,
}

/// The parameters of a change. Unknown ones are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Update {
    /// The fewest nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_scaler_min: Option<i64>,
    /// The most nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_scaler_max: Option<i64>,
    /// How many nodes may be added at once while all are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<u32>,
    /// How many nodes may be missing while all are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<u32>,
    /// The type of every node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_type: Option<String>,
    /// The administrators of the cluster; an empty list changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub administrators: Option<Vec<String>>,
    /// The kubeconfig of a cluster that the order brought, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<Sensitive>,
    /// The OIDC issuer of the cluster.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "object::optional")]
    pub oidc: Option<Oidc>,
    /// Ends a trial for good.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
}

impl Provisioning {
    /// The parameters without the kubeconfig, as callers may see them.
    pub fn shown(&self) -> Self {
        Self { kubeconfig: None, ..self.clone() }
    }

    /// The parameters after a change: what it says replaces, what it leaves out stays.
    pub fn changed_by(&self, update: &Update) -> Self {
        let given = |list: &Option<Vec<String>>| list.clone().filter(|list| !list.is_empty());
        Self {
            auto_scaler_min: update.auto_scaler_min.or(self.auto_scaler_min),
            auto_scaler_max: update.auto_scaler_max.or(self.auto_scaler_max),
            max_surge: update.max_surge.or(self.max_surge),
            max_unavailable: update.max_unavailable.or(self.max_unavailable),
            machine_type: update
                .machine_type
                .clone()
                .filter(|machine| !machine.is_empty())
                .or_else(|| self.machine_type.clone()),
            administrators: given(&update.administrators).or_else(|| self.administrators.clone()),
            kubeconfig: update.kubeconfig.clone().or_else(|| self.kubeconfig.clone()),
            oidc: update.oidc.clone().filter(Oidc::is_provided).or_else(|| self.oidc.clone()),
            ..self.clone()
        }
    }
}

fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests;
