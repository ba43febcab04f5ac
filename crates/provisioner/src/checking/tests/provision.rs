//! What a new runtime is to be, and which orders are refused.

use super::samples::{self, AT, checked, refusal};
use crate::{
    checking::{self, Defaults},
    error::Code,
    requests::{Cluster, ProviderConfig, Provision},
};

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

#[test]
fn who_vouches_for_users_must_be_complete() {
    type Case = (fn(&mut crate::configuration::Oidc), &'static str);
    let cases: &[Case] = &[
        (|o| o.client_id.clear(), "clientID must not be empty"),
        (|o| o.groups_claim.clear(), "groupsClaim must not be empty"),
        (|o| o.issuer_url.clear(), "issuerURL must not be empty"),
        (|o| o.issuer_url = "http://issuer".into(), "issuerURL must begin with https://"),
        (|o| o.issuer_url = "https://".into(), "issuerURL must begin with https://"),
        (|o| o.issuer_url = "https:a".into(), "issuerURL must begin with https://"),
        (|o| o.issuer_url = "https://a ".into(), "issuerURL must not contain white space"),
        (|o| o.issuer_url = "https://a/x?y=z".into(), "issuerURL must not contain a query"),
        (|o| o.issuer_url = "https://a#f".into(), "issuerURL must not contain a fragment"),
        (
            |o| o.issuer_url = "https://u:p@a/".into(),
            "issuerURL must not contain a username or password",
        ),
        (|o| o.username_claim.clear(), "usernameClaim must not be empty"),
        (|o| o.username_prefix.clear(), "usernamePrefix must not be empty"),
        (|o| o.signing_algs.clear(), "signingAlgs must not be empty"),
        (
            |o| o.signing_algs.push("HS256".into()),
            "signingAlgs must be of RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, \
             PS512, not \"HS256\"",
        ),
    ];

    for (change, rule) in cases {
        let mut oidc = samples::oidc();
        change(&mut oidc);
        let message = broken(|cluster| cluster.oidc = Some(oidc));
        assert_eq!(message, format!("{AT}.oidcConfig.{rule}"));
    }
}

#[test]
fn names_in_the_dns_must_be_kept_by_somebody() {
    type Case = (fn(&mut crate::configuration::Dns), &'static str);
    let cases: &[Case] = &[
        (|d| d.domain = "Kyma.example".into(), "domain must be a domain in lower case"),
        (|d| d.providers[0].kind.clear(), "providers[0].type must not be empty"),
        (|d| d.providers[0].secret_name.clear(), "providers[0].secretName must not be empty"),
        (
            |d| d.providers[0].domains_include.push(String::new()),
            "providers[0].domainsInclude[1] must be a domain in lower case",
        ),
        (
            |d| d.providers.push(d.providers[0].clone()),
            "providers must have only one that is primary",
        ),
    ];

    for (change, rule) in cases {
        let mut dns = samples::dns();
        change(&mut dns);
        let message = broken(|cluster| cluster.dns = Some(dns));
        assert_eq!(message, format!("{AT}.dnsConfig.{rule}"));
    }
}

#[test]
fn complete_orders_are_accepted() {
    let mut request = samples::aws();
    request.cluster.oidc = Some(samples::oidc());
    request.cluster.dns = Some(samples::dns());
    request.cluster.control_plane_failure_tolerance = Some("zone".into());
    request.cluster.machine_image = Some("gardenlinux".into());
    request.cluster.machine_image_version = Some("1443.3.0".into());

    let cluster = checked(request).cluster;

    assert_eq!(cluster.oidc, Some(samples::oidc()));
    assert_eq!(cluster.dns, Some(samples::dns()));
    assert_eq!(cluster.control_plane_failure_tolerance.as_deref(), Some("zone"));
    assert_eq!(cluster.machine_image_version.as_deref(), Some("1443.3.0"));
}

#[test]
fn defaults_that_fit_nobody_are_refused_by_the_same_rules() {
    let defaults = Defaults { auto_scaler_min: 0, ..Defaults::default() };
    let mut request: Provision = samples::aws();
    request.cluster.auto_scaler_min = None;

    let error = checking::provision(request, &defaults).unwrap_err();

    assert_eq!(error.message, format!("{AT}.autoScalerMin must be at least 1"));
}
