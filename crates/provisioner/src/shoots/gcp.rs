//! Google: one subnet for all zones.

use serde_json::{Value, json};

use super::{Part, json::at, networks::Network};
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

/// Lets the subnet of the nodes grow, and the network of the nodes around it. Where it is wider already, it stays.
pub(super) fn change(spec: &mut Value, worker_cidr: &str) {
    let Ok(wanted) = worker_cidr.parse::<Network>() else { return };
    let wider = |live: &Value| {
        let live = live.as_str().and_then(|live| live.parse::<Network>().ok());
        live.is_some_and(|live| wanted != live && wanted.contains(live))
    };
    let networks = ["provider", "infrastructureConfig", "networks"];
    let places: [&[&str]; 3] = [
        &["networking", "nodes"],
        &[networks[0], networks[1], networks[2], "worker"],
        &[networks[0], networks[1], networks[2], "workers"],
    ];
    for place in places {
        let pointer = format!("/{}", place.join("/"));
        if spec.pointer(&pointer).is_some_and(wider) {
            *at(spec, place) = json!(worker_cidr);
        }
    }
}
