//! `OpenStack`: disks come with the machine type, so its pools have no volume.

use serde_json::json;

use super::Part;
use crate::configuration::OpenStack;

const API: &str = "openstack.provider.extensions.gardener.cloud/v1alpha1";

pub(super) fn part(openstack: &OpenStack, worker_cidr: &str) -> Part {
    Part {
        profile: openstack.cloud_profile_name.clone(),
        nodes: worker_cidr.into(),
        control_plane: json!({
            "kind": "ControlPlaneConfig",
            "apiVersion": API,
            "loadBalancerProvider": openstack.load_balancer_provider,
        }),
        infrastructure: json!({
            "kind": "InfrastructureConfig",
            "apiVersion": API,
            "floatingPoolName": openstack.floating_pool_name,
            // The first is the older spelling; it is sent, and empty.
            "networks": {"worker": "", "workers": worker_cidr},
        }),
        zones: openstack.zones.clone(),
    }
}
