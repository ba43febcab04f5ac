//! Orders that are refused: each broken rule in its words, in the order of the reference.

use super::{
    super::samples::{self, AT, refusal},
    broken,
};
use crate::requests::{Cluster, ProviderConfig};

#[test]
fn rules_of_the_reference_answer_in_its_words() {
    let prefix = "Cluster config validation error while starting Runtime provisioning, error: ";

    let image = broken(|cluster| cluster.machine_image_version = Some("1443.3.0".into()));
    let disks = [
        broken(|cluster| cluster.provider = "OpenStack".into()),
        refusal({
            let mut request = samples::openstack();
            request.cluster.volume_size_gb = Some(50);
            request
        })
        .message,
    ];
    let none = broken(|cluster| cluster.provider_config = ProviderConfig::default());

    let text = "Machine Image Version passed while Machine Image is empty";
    assert_eq!(image, format!("{prefix}{text}"));
    let text = "OpenStack mutation does not accept diskType or volumeSizeGb parameters";
    assert_eq!(disks, [format!("{prefix}{text}"), format!("{prefix}{text}")]);
    assert_eq!(none, "provider config not specified");
}

#[test]
fn rules_are_asked_in_the_order_of_the_reference() {
    let mut request = samples::aws();
    request.cluster.auto_scaler_min = Some(0);
    request.cluster.machine_image_version = Some("1443.3.0".into());
    let image_first = refusal(request.clone()).message;
    request.kyma = Some(crate::requests::Kyma::default());

    let kyma_first = refusal(request).message;

    assert!(image_first.contains("Machine Image"), "{image_first}");
    assert!(kyma_first.starts_with("Kyma config validation error"), "{kyma_first}");
}

#[test]
fn each_broken_rule_names_its_field() {
    type Case = (fn(&mut Cluster), &'static str);
    let cases: &[Case] = &[
        (|c| c.target_secret.clear(), "targetSecret must not be empty"),
        (|c| c.region = " ".into(), "region must not be empty"),
        (|c| c.machine_type = Some(String::new()), "machineType must not be empty"),
        (|c| c.disk_type = Some(String::new()), "diskType must not be empty"),
        (
            |c| c.kubernetes_version = Some("1.32".into()),
            "kubernetesVersion \"1.32\" is not a version such as 1.32.4",
        ),
        (|c| c.auto_scaler_min = Some(0), "autoScalerMin must be at least 1"),
        (
            |c| c.auto_scaler_max = Some(2),
            "autoScalerMax must be at least autoScalerMin: 2 is less than 3",
        ),
        (|c| c.max_surge = Some(-1), "maxSurge must not be negative"),
        (|c| c.max_unavailable = Some(-1), "maxUnavailable must not be negative"),
        (
            |c| c.max_surge = Some(0),
            "maxSurge and maxUnavailable must not both be 0: no node could ever be replaced",
        ),
        (|c| c.volume_size_gb = Some(0), "volumeSizeGB must be at least 1"),
        (
            |c| c.purpose = Some("fun".into()),
            "purpose must be one of evaluation, testing, development, production, not \"fun\"",
        ),
        (
            |c| c.control_plane_failure_tolerance = Some("region".into()),
            "controlPlaneFailureTolerance must be one of node, zone, not \"region\"",
        ),
        (
            |c| c.licence_type = Some("a\nb".into()),
            "licenceType must be at most 256 characters that can be read",
        ),
        (
            |c| c.provider = "gcp".into(),
            "provider \"gcp\" does not agree with providerSpecificConfig.awsConfig",
        ),
    ];

    for (change, rule) in cases {
        assert_eq!(broken(change), format!("{AT}.{rule}"));
    }
}
