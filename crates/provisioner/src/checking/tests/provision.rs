//! What a new runtime is to be: what is said, and what is filled in.

mod details;
mod rules;

use super::samples::{self, checked, refusal};
use crate::{error::Code, requests::Cluster};

fn broken(change: impl FnOnce(&mut Cluster)) -> String {
    let mut request = samples::aws();
    change(&mut request.cluster);
    let error = refusal(request);
    assert_eq!(error.code, Code::BadRequest);
    error.message
}

#[test]
fn what_is_said_is_kept() {
    let mut request = samples::aws();
    request.cluster.licence_type = Some("TestDevelopmentAndDemo".into());
    request.cluster.seed = Some("aws-eu1".into());
    request.cluster.networking_filter_disabled = Some(false);

    let configuration = checked(request.clone());

    assert_eq!(configuration.entry.name, "demo-1");
    assert_eq!(configuration.entry.description, request.description);
    assert_eq!(configuration.entry.labels, request.labels);
    assert_eq!(configuration.administrators, ["ada@example.org"]);
    assert_eq!(configuration.kyma, None);
    let cluster = configuration.cluster;
    assert_eq!(cluster.name, "c-7f3a91b");
    assert_eq!(cluster.kubernetes_version, "1.25.6");
    assert_eq!((cluster.auto_scaler_min, cluster.auto_scaler_max), (3, 10));
    assert_eq!((cluster.max_surge, cluster.max_unavailable), (3, 0));
    assert_eq!(cluster.licence_type.as_deref(), Some("TestDevelopmentAndDemo"));
    assert_eq!(cluster.seed.as_deref(), Some("aws-eu1"));
    assert!(!cluster.networking_filter_disabled);
    assert!(cluster.eu_access);
}

#[test]
fn what_is_left_out_is_filled_in_for_each_provider() {
    let orders = [samples::aws(), samples::azure(), samples::gcp(), samples::openstack()];

    let clusters = orders.map(|mut order| {
        let said = order.cluster;
        order.cluster = Cluster {
            name: said.name,
            provider: said.provider,
            target_secret: said.target_secret,
            region: said.region,
            worker_cidr: said.worker_cidr,
            provider_config: said.provider_config,
            ..Cluster::default()
        };
        checked(order).cluster
    });

    let machines = clusters.each_ref().map(|cluster| cluster.machine_type.as_str());
    assert_eq!(machines, ["m5.xlarge", "Standard_D4_v3", "n2-standard-4", "g_c4_m16"]);
    let disks = clusters.each_ref().map(|cluster| cluster.disk_type.as_deref());
    assert_eq!(disks, [Some("gp3"), Some("Standard_LRS"), Some("pd-standard"), None]);
    let sizes = clusters.each_ref().map(|cluster| cluster.volume_size_gb);
    assert_eq!(sizes, [Some(50), Some(50), Some(50), None]);
    for cluster in clusters {
        assert_eq!(cluster.kubernetes_version, "1.32.4");
        assert_eq!((cluster.auto_scaler_min, cluster.auto_scaler_max), (3, 20));
        assert_eq!((cluster.max_surge, cluster.max_unavailable), (1, 0));
        assert!(!cluster.kubernetes_auto_update && !cluster.machine_image_auto_update);
        assert!(cluster.networking_filter_disabled && !cluster.eu_access);
    }
}

#[test]
fn an_empty_text_says_as_little_as_none() {
    let mut request = samples::aws();
    let empty = Some(String::new());
    request.cluster.purpose = empty.clone();
    request.cluster.seed = empty.clone();
    request.cluster.machine_image = empty.clone();
    request.cluster.machine_image_version = empty.clone();
    request.cluster.exposure_class_name = empty.clone();
    request.cluster.control_plane_failure_tolerance = empty;

    let cluster = checked(request).cluster;

    assert_eq!(cluster.purpose, None);
    assert_eq!(cluster.seed, None);
    assert_eq!(cluster.machine_image, None);
    assert_eq!(cluster.machine_image_version, None);
    assert_eq!(cluster.exposure_class_name, None);
    assert_eq!(cluster.control_plane_failure_tolerance, None);
}

#[test]
fn the_provider_is_stored_in_lower_case() {
    let mut request = samples::aws();
    request.cluster.provider = "AWS".into();

    let cluster = checked(request).cluster;

    assert_eq!(cluster.provider, "aws");
}
