//! Resolved orders, per plan.

use broker::catalog::Orderer;
use domain::{
    parameters::{Provisioning, Zone},
    plan::{Profile, Provider},
};
use serde_json::json;

use crate::support::Shop;

fn named(zones: &[Zone]) -> Vec<&str> {
    zones.iter().map(|zone| zone.name.as_str()).collect()
}

#[test]
fn each_plan_has_the_known_defaults() {
    let shop = Shop::open();
    let (big, small) = ("10.250.0.0/16", "10.250.0.0/19");
    // Plan, platform region, order; then what follows from it.
    #[rustfmt::skip]
    let cases = [
        ("azure", "cf-eu10", json!({}), "eastus", "Standard_D4_v3", Some(("Standard_LRS", 50)), (3, 20), big, Some(big), Some(true), "development"),
        ("azure_lite", "cf-eu10", json!({}), "eastus", "Standard_D4_v3", Some(("Standard_LRS", 50)), (2, 10), small, Some(small), Some(true), "development"),
        ("aws", "cf-eu10", json!({}), "eu-central-1", "m5.xlarge", Some(("gp2", 50)), (3, 20), big, Some(big), None, "development"),
        ("preview", "cf-eu10", json!({}), "eu-central-1", "m5.xlarge", Some(("gp2", 50)), (3, 20), big, Some(big), None, "development"),
        ("gcp", "cf-eu10", json!({}), "europe-west3", "n2-standard-4", Some(("pd-standard", 50)), (3, 20), small, None, None, "development"),
        ("openstack", "cf-eu10", json!({}), "eu-de-2", "g_c4_m16", None, (4, 8), small, None, None, "development"),
        ("free", "cf-us10", json!({}), "eu-central-1", "m5.xlarge", Some(("gp2", 50)), (1, 1), small, Some(big), None, "evaluation"),
        ("free", "cf-us20", json!({}), "eastus", "Standard_D4_v3", Some(("Standard_LRS", 50)), (1, 1), small, Some(small), Some(false), "evaluation"),
        ("trial", "cf-us99", json!({}), "eastus", "Standard_D4_v3", Some(("Standard_LRS", 50)), (1, 1), small, Some(small), Some(false), "evaluation"),
        ("trial", "cf-us99", json!({"provider": "AWS"}), "eu-west-1", "m5.xlarge", Some(("gp2", 50)), (1, 1), small, Some(big), None, "evaluation"),
        ("trial", "cf-us99", json!({"provider": "GCP"}), "europe-west3", "n2-standard-4", Some(("pd-standard", 30)), (1, 1), small, None, None, "development"),
    ];
    for (
        plan,
        region,
        mut order,
        cluster_region,
        machine,
        disk,
        nodes,
        workers,
        network,
        nat,
        purpose,
    ) in cases
    {
        order["name"] = json!("dev");

        let cluster = shop.cluster(plan, region, &order);

        assert_eq!(cluster.region, cluster_region, "{plan}");
        assert_eq!(cluster.machine_type, machine, "{plan}");
        assert_eq!(cluster.disk_type.as_deref().zip(cluster.volume_size_gb), disk, "{plan}");
        assert_eq!((cluster.auto_scaler_min, cluster.auto_scaler_max), nodes, "{plan}");
        assert_eq!((cluster.max_surge, cluster.max_unavailable), (1, 0), "{plan}");
        assert_eq!(cluster.worker_cidr, workers, "{plan}");
        assert_eq!(cluster.network_cidr.as_deref(), network, "{plan}");
        assert_eq!(cluster.nat_gateway, nat, "{plan}");
        assert_eq!(cluster.purpose, purpose, "{plan}");
        assert_eq!(cluster.zones.len(), 1, "{plan}");
        let openstack = plan == "openstack";
        assert_eq!(cluster.floating_pool.is_some(), openstack, "{plan}");
        assert_eq!(cluster.exposure_class.is_some(), openstack, "{plan}");
        assert_eq!(cluster.cloud_profile.is_some(), openstack, "{plan}");
        assert_eq!(cluster.load_balancer_provider.is_some(), openstack, "{plan}");
    }
}

#[test]
fn an_order_overrides_what_it_names() {
    let shop = Shop::new();
    let order = json!({"name": "dev", "region": "us-east-1", "machineType": "m5.8xlarge",
        "autoScalerMin": 5, "autoScalerMax": 7, "maxSurge": 3, "maxUnavailable": 2,
        "volumeSizeGb": 90, "purpose": "production", "targetSecret": "mine"});

    let cluster = shop.cluster("aws", "cf-eu10", &order);
    let without_disk =
        shop.cluster("openstack", "cf-eu10", &json!({"name": "dev", "volumeSizeGb": 90}));

    assert_eq!(
        (cluster.region.as_str(), cluster.machine_type.as_str()),
        ("us-east-1", "m5.8xlarge")
    );
    assert_eq!((cluster.auto_scaler_min, cluster.auto_scaler_max), (5, 7));
    assert_eq!((cluster.max_surge, cluster.max_unavailable), (3, 2));
    assert_eq!((cluster.volume_size_gb, cluster.purpose.as_str()), (Some(90), "production"));
    assert_eq!(cluster.target_secret.as_deref(), Some("mine"));
    assert_eq!(without_disk.volume_size_gb, None);
}

#[test]
fn a_trial_goes_where_it_asks_else_where_its_platform_is_else_to_the_plans_region() {
    let shop = Shop::open();
    #[rustfmt::skip]
    let cases = [
        ("cf-eu10", "Azure", "", "westeurope"), ("cf-us10", "Azure", "", "eastus"), ("cf-apj21", "Azure", "", "southeastasia"),
        ("cf-eu10", "AWS", "", "eu-west-1"), ("cf-us10", "AWS", "", "us-east-1"), ("cf-apj21", "AWS", "", "ap-southeast-1"),
        ("cf-eu10", "GCP", "", "europe-west3"), ("cf-us10", "GCP", "", "us-central1"), ("cf-apj21", "GCP", "", "asia-south1"),
        ("cf-eu10", "Azure", "asia", "southeastasia"), ("cf-us10", "AWS", "europe", "eu-west-1"), ("nowhere", "GCP", "us", "us-central1"),
        ("nowhere", "Azure", "", "eastus"), ("cf-ch20", "Azure", "us", "switzerlandnorth"), ("cf-eu11", "AWS", "us", "eu-central-1"),
    ];
    for (platform, provider, region, expected) in cases {
        let order = json!({"name": "dev", "provider": provider, "region": region});

        let cluster = shop.cluster("trial", platform, &order);

        assert_eq!(cluster.region, expected, "{platform} {provider} {region}");
    }
}

#[test]
fn orders_with_eu_access_stay_in_the_eu() {
    let shop = Shop::new();
    let cases = [
        ("azure", "cf-eu11", json!({"name": "dev"}), "switzerlandnorth"),
        ("azure_lite", "cf-ch20", json!({"name": "dev"}), "switzerlandnorth"),
        ("azure", "cf-ch20", json!({"name": "dev", "zones": ["9"]}), "switzerlandnorth"),
        ("aws", "cf-eu11", json!({"name": "dev"}), "eu-central-1"),
        ("preview", "cf-eu11", json!({"name": "dev"}), "eu-central-1"),
        ("free", "cf-ch20", json!({"name": "dev"}), "switzerlandnorth"),
        ("free", "cf-eu11", json!({"name": "dev"}), "eu-central-1"),
    ];
    for (plan, platform, order, region) in cases {
        assert_eq!(shop.cluster(plan, platform, &order).region, region, "{plan} {platform}");
    }
    assert!(shop.resolve("aws", "cf-eu11", &Provisioning::default()).eu_access);
}

#[test]
fn zones_lie_in_the_region_and_are_as_many_as_configured() {
    let mut shop = Shop::new();
    let order = |region: &str| json!({"name": "dev", "region": region});

    let one = shop.cluster("aws", "cf-eu10", &order("us-east-1"));
    shop.catalog = shop.catalog.adjusted(|defaults| defaults.multi_zone = true).unwrap();
    let aws = shop.cluster("aws", "cf-eu10", &order("eu-central-1"));
    let few = shop.cluster("aws", "cf-eu10", &order("us-west-1"));
    let azure = shop.cluster("azure", "cf-eu10", &order("eastus"));
    let gcp = shop.cluster("gcp", "cf-eu10", &order("us-central1"));
    let lite = shop.cluster("azure_lite", "cf-eu10", &order("eastus"));

    assert!(one.zones[0].name.starts_with("us-east-1") && one.zones.len() == 1);
    assert_eq!(named(&aws.zones), ["eu-central-1a", "eu-central-1b", "eu-central-1c"]);
    assert_eq!(named(&few.zones), ["us-west-1a", "us-west-1b"]);
    assert_eq!(named(&azure.zones), ["1", "2", "3"]);
    assert_eq!(named(&gcp.zones), ["us-central1-a", "us-central1-b", "us-central1-c"]);
    assert_eq!(lite.zones.len(), 1);
    let second = aws.zones[1].subnets.clone().unwrap();
    assert_eq!(second.workers, "10.250.64.0/19");
    assert_eq!(second.public.as_deref(), Some("10.250.96.0/20"));
    assert_eq!(second.internal.as_deref(), Some("10.250.112.0/20"));
    assert_eq!(azure.zones[2].subnets.clone().unwrap().workers, "10.250.64.0/19");
    assert!(gcp.zones.iter().all(|zone| zone.subnets.is_none()));
}

#[test]
fn zones_that_an_order_names_are_taken_where_the_plan_lets_it() {
    let shop = Shop::new();
    let cluster = |plan, zones: &[&str]| {
        shop.cluster(plan, "cf-eu10", &json!({"name": "dev", "zones": zones}))
    };

    assert_eq!(
        named(&cluster("aws", &["eu-central-1c", "eu-central-1a"]).zones),
        ["eu-central-1c", "eu-central-1a"]
    );
    assert_eq!(named(&cluster("azure", &["7", "2", "x"]).zones), ["2"]);
    assert_eq!(cluster("azure", &["7"]).zones.len(), 1);
    assert_ne!(named(&cluster("openstack", &["moon"]).zones), ["moon"]);
    assert_ne!(named(&cluster("trial", &["moon"]).zones), ["moon"]);
}

#[test]
fn the_orderer_administers_unless_the_order_names_others() {
    let shop = Shop::new();
    let order = |administrators: Option<Vec<String>>| Provisioning {
        administrators,
        ..Provisioning::default()
    };
    let administrators = |order| shop.resolve("aws", "cf-eu10", &order).administrators;

    assert_eq!(administrators(order(None)), ["jo@example.test"]);
    assert_eq!(administrators(order(Some(vec![]))), ["jo@example.test"]);
    assert_eq!(administrators(order(Some(vec!["A".into(), "b".into()]))), ["A", "b"]);
}

#[test]
fn some_licences_switch_the_network_filter_off() {
    let shop = Shop::new();
    let disabled = |license_type| {
        let (plan, place) = (shop.plan("aws"), shop.place("cf-eu10"));
        let orderer = Orderer { user_id: "jo", license_type };
        let resolved =
            shop.catalog.resolve(plan, &place, &Provisioning::default(), &orderer, [0; 16]);
        resolved.unwrap().network_filter_disabled
    };

    for licence in ["CUSTOMER", "PARTNER", "TRIAL"] {
        assert!(disabled(Some(licence)), "{licence}");
    }
    assert!(!disabled(None) && !disabled(Some("customer")) && !disabled(Some("SAPDEV")));
}

#[test]
fn an_issuer_takes_what_it_leaves_out_from_the_defaults() {
    let shop = Shop::new();
    let usual = shop.catalog.defaults().oidc.clone();

    let order = json!({"name": "dev", "oidc": {"clientID": "c", "issuerURL": "https://i.test/",
        "usernameClaim": "email"}});
    let own = shop.cluster("aws", "cf-eu10", &order).oidc;

    assert_eq!((own.client_id.as_str(), own.issuer_url.as_str()), ("c", "https://i.test"));
    assert_eq!((&own.username_claim[..], &own.groups_claim), ("email", &usual.groups_claim));
    assert_eq!(own.signing_algs, usual.signing_algs);
    assert_eq!(shop.cluster("aws", "cf-eu10", &json!({"name": "dev"})).oidc, usual);
}

#[test]
fn operators_decide_about_trial_nodes_and_failure_tolerance() {
    let mut shop = Shop::new();
    shop.catalog = shop
        .catalog
        .adjusted(|defaults| {
            defaults.trial_nodes = Some(2);
            defaults.trial_provider = Provider::Aws;
            defaults.failure_tolerance = Some("zone".into());
        })
        .unwrap();
    let order = json!({"name": "dev"});

    let trial = shop.cluster("trial", "cf-eu10", &order);
    let aws = shop.cluster("aws", "cf-eu10", &order);

    assert_eq!(
        (trial.provider, trial.auto_scaler_min, trial.auto_scaler_max),
        (Provider::Aws, 2, 2)
    );
    assert_eq!((trial.failure_tolerance, aws.failure_tolerance), (None, Some("zone".into())));
}

#[test]
fn a_brought_cluster_has_no_provider_no_region_and_only_named_administrators() {
    let shop = Shop::new();

    let own = shop.resolve("own_cluster", "cf-eu10", &Provisioning::default());
    let aws = shop.resolve("aws", "cf-eu10", &Provisioning::default());

    assert_eq!((own.provider_word(), own.region_word()), ("custom", "custom"));
    assert_eq!((own.cluster, own.profile), (None, Profile::Evaluation));
    assert_eq!((own.administrators.len(), aws.administrators.len()), (0, 1));
    assert_eq!((aws.provider_word(), aws.region_word()), ("aws", "eu-central-1"));
    assert_eq!(aws.profile, Profile::Production);
}

#[test]
fn what_is_resolved_is_read_back_as_it_was_stored() {
    let shop = Shop::new();
    let resolved = shop.resolve("aws", "cf-eu10", &Provisioning::default());

    let stored = serde_json::to_string(&resolved).unwrap();

    assert_eq!(
        serde_json::from_str::<domain::parameters::ResolvedOrder>(&stored).unwrap(),
        resolved
    );
}
