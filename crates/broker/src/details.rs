//! What the steps have learnt about an instance: the data of its operations, and kept on its row so that the
//! next operation begins with it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// The details of an instance. Every field is written by one family of steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// The cluster, once it is ordered.
    pub runtime_id: Option<Uuid>,
    /// When an order for the cluster left whose answer has not come.
    pub runtime_ordered_at: Option<Timestamp>,
    /// The provisioner's operation that is followed.
    pub target_operation_id: Option<String>,
    /// The account that pays: the secret's name.
    pub target_secret: Option<String>,
    /// The version of Kyma, and where it came from.
    pub runtime_version: Option<RuntimeVersion>,
    /// The name of the runtime at the provisioner and the Reconciler.
    pub cluster_name: Option<String>,
    /// Where its owner manages the cluster, as the Director says.
    pub dashboard_url: Option<String>,
    /// Evaluations of its availability.
    pub avs: Avs,
    /// Whether its data tenant was made.
    pub edp_created: bool,
    /// The cluster's id for the Service Manager: made once, or found in the runtime, where others may have written any text.
    pub sm_cluster_id: Option<String>,
    /// The Kyma resource's namespace.
    pub kyma_namespace: Option<String>,
    /// The Kyma resource's name.
    pub kyma_name: Option<String>,
    /// The template of the Kyma resource.
    pub kyma_template: Option<String>,
    /// The version of the Reconciler's configuration; none when it has none.
    pub cluster_configuration_version: Option<i64>,
    /// When the Reconciler got that configuration first; how long it may take is counted from there.
    pub cluster_configuration_at: Option<Timestamp>,
    /// Whether the Reconciler was requested to delete.
    pub cluster_configuration_deleted: bool,
    /// When it was requested.
    pub reconciler_deregistration_at: Option<Timestamp>,
    /// Logging as a service; legacy.
    pub lms: Lms,
    /// Since when IAS has not taken the dashboards' addresses; legacy.
    pub addresses_failing_since: Option<Timestamp>,
    /// Whether Azure Event Hubs were removed; legacy.
    pub event_hubs_deleted: bool,
    /// Unknown fields, of a newer version or of custom steps; they are kept.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

impl Details {
    /// The details without those of the cluster: the part that its successor shall have again, and the objects that still exist.
    pub(crate) fn without_cluster(&self) -> Self {
        let there = |id: Option<i64>, deleted: bool| id.filter(|_| !deleted);
        Self {
            cluster_name: self.cluster_name.clone(),
            sm_cluster_id: self.sm_cluster_id.clone(),
            kyma_namespace: self.kyma_namespace.clone(),
            kyma_name: self.kyma_name.clone(),
            kyma_template: self.kyma_template.clone(),
            edp_created: self.edp_created,
            avs: Avs {
                internal_id: there(self.avs.internal_id, self.avs.internal_deleted),
                external_id: there(self.avs.external_id, self.avs.external_deleted),
                ..Avs::default()
            },
            ..Self::default()
        }
    }
}

/// A version of Kyma.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeVersion {
    /// The version.
    pub version: String,
    /// `parameters`, `defaults` or `account-mapping`.
    pub origin: String,
    /// Its first number.
    pub major: u32,
}

/// Evaluations of an instance's availability.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Avs {
    /// Asked from inside.
    pub internal_id: Option<i64>,
    /// Whether it was removed.
    pub internal_deleted: bool,
    /// Asked from outside.
    pub external_id: Option<i64>,
    /// Whether it was removed.
    pub external_deleted: bool,
}

/// Logging as a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lms {
    /// The tenant there.
    pub tenant_id: Option<String>,
    /// Whether it was given up.
    pub failed: bool,
    /// When the tenant was asked for.
    pub requested_at: Option<Timestamp>,
    /// Since when a certificate is being asked for.
    pub certificate_awaited_since: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_no_field_is_for_goes_on_as_it_is() {
        let stored = json!({"edp_created": true, "of_tomorrow": {"a": [1]}});

        let details: Details = serde_json::from_value(stored).unwrap();
        let written = serde_json::to_value(&details).unwrap();

        assert!(details.edp_created);
        assert_eq!(details.others.len(), 1);
        assert_eq!(written["of_tomorrow"], json!({"a": [1]}));
    }

    #[test]
    fn nothing_is_written_for_nothing() {
        let written = serde_json::to_value(Details::default()).unwrap();

        assert_eq!(written.get("others"), None);
        assert_eq!(serde_json::from_value::<Details>(written).unwrap(), Details::default());
    }
}
