//! Labels and annotations: by which a Shoot is found again, and what others read from it.

use std::collections::BTreeMap;

use clients::gardener::{ACCOUNT_LABEL, RUNTIME_ANNOTATION, SUBACCOUNT_LABEL};

use super::Owner;
use crate::configuration::Cluster;

/// Names the operation that touched a Shoot last.
pub const OPERATION_ANNOTATION: &str = "kcp.provisioner.kyma-project.io/operation-id";
/// The older name of the runtime's annotation, which others still read.
pub const LEGACY_RUNTIME_ANNOTATION: &str = "compass.provisioner.kyma-project.io/runtime-id";
/// The older name of the operation's annotation, which others still read.
pub const LEGACY_OPERATION_ANNOTATION: &str = "compass.provisioner.kyma-project.io/operation-id";
/// Under which licence a cluster runs.
pub const LICENCE_ANNOTATION: &str = "kcp.provisioner.kyma-project.io/licence-type";
/// Says that only people in the EU may reach the nodes.
pub const EU_ACCESS_ANNOTATION: &str = "support.gardener.cloud/eu-access-for-cluster-nodes";

pub(super) fn labels(owner: &Owner<'_>) -> BTreeMap<String, String> {
    let labels = [(ACCOUNT_LABEL, owner.tenant), (SUBACCOUNT_LABEL, owner.subaccount)];
    labels.into_iter().map(|(key, value)| (key.into(), value.into())).collect()
}

pub(super) fn annotations(cluster: &Cluster, owner: &Owner<'_>) -> BTreeMap<String, String> {
    let mut annotations = vec![
        (RUNTIME_ANNOTATION, owner.runtime_id),
        (OPERATION_ANNOTATION, owner.operation_id),
        (LEGACY_RUNTIME_ANNOTATION, owner.runtime_id),
        (LEGACY_OPERATION_ANNOTATION, owner.operation_id),
    ];
    // Even when it is empty: its readers tell that from none.
    annotations.extend(cluster.licence_type.as_deref().map(|kind| (LICENCE_ANNOTATION, kind)));
    annotations.extend(cluster.eu_access.then_some((EU_ACCESS_ANNOTATION, "true")));
    annotations.into_iter().map(|(key, value)| (key.into(), value.into())).collect()
}
