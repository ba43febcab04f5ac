//! Google: one subnet for all zones.

use serde_json::json;

use super::Part;
use crate::configuration::Gcp;

const API: &str = "gcp.provider.extensions.gardener.cloud/v1alpha1";

pub(super) fn part(gcp: &Gcp, worker_cidr: &str) -> Part {
    Part {
        profile: "gcp".into(),
        nodes: worker_cidr.into(),
        control_plane: json!({
            "kind": "ControlPlaneConfig",
            "apiVersion": API,
            "zone": gcp.zones.first().map(String::as_str).unwrap_or_default(),
        }),
        infrastructure: json!({
            "kind": "InfrastructureConfig",
            "apiVersion": API,
            // The first is the older spelling; Gardener wants to see both alike.
            "networks": {"worker": worker_cidr, "workers": worker_cidr},
        }),
        zones: gcp.zones.clone(),
    }
}
