//! The schemas, field by field, against the reference's tables.

use broker::catalog::Offer;
use serde_json::{Value, json};

use crate::support::{PLANS, Shop};

const AZURE: [&str; 8] = [
    "eastus",
    "centralus",
    "westus2",
    "uksouth",
    "northeurope",
    "westeurope",
    "japaneast",
    "southeastasia",
];
const AWS: [&str; 11] = [
    "eu-central-1",
    "eu-west-2",
    "ca-central-1",
    "sa-east-1",
    "us-east-1",
    "us-west-1",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-south-1",
    "ap-southeast-1",
    "ap-southeast-2",
];

fn create(shop: &Shop, plan: &str, region: &str) -> Value {
    shop.catalog.create_schema(&shop.offer, shop.plan(plan), &shop.place(region))
}

fn update(shop: &Shop, plan: &str) -> Value {
    shop.catalog.update_schema(&shop.offer, shop.plan(plan), &shop.place("cf-eu10"))
}

fn without_additional() -> Shop {
    let shop = Shop::open();
    Shop { offer: Offer { additional_parameters: false, ..shop.offer.clone() }, ..shop }
}

#[test]
fn the_fields_of_each_plan_are_shown_in_the_known_order() {
    let shop = without_additional();
    let sized = ["name", "region", "machineType", "autoScalerMin", "autoScalerMax"].as_slice();
    let cases: [(&str, &[&str], &[&str]); 9] = [
        ("azure", sized, &sized[2..]),
        ("azure_lite", sized, &sized[2..]),
        ("aws", sized, &sized[2..]),
        ("gcp", sized, &sized[2..]),
        ("openstack", sized, &sized[2..]),
        ("preview", sized, &sized[2..]),
        ("free", &sized[..2], &[]),
        ("trial", &sized[..1], &[]),
        ("own_cluster", &["name", "kubeconfig", "shootName", "shootDomain"], &["kubeconfig"]),
    ];
    for (plan, on_create, on_update) in cases {
        for (schema, fields) in
            [(create(&shop, plan, "cf-eu10"), on_create), (update(&shop, plan), on_update)]
        {
            let keys: Vec<&str> =
                schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();

            assert_eq!(keys, fields, "{plan}");
            assert_eq!(schema["_controlsOrder"], json!(fields), "{plan}");
            assert_eq!(schema["_show_form_view"], true);
        }
    }
}

#[test]
fn oidc_and_administrators_are_published_where_the_offer_says_so_and_there_is_a_cluster() {
    let shop = Shop::open();
    for plan in ["azure", "azure_lite", "aws", "gcp", "openstack", "preview", "free", "trial"] {
        for schema in [create(&shop, plan, "cf-eu10"), update(&shop, plan)] {
            assert_eq!(schema["properties"]["oidc"]["required"], json!(["clientID", "issuerURL"]));
            assert_eq!(schema["properties"]["administrators"]["items"], json!({"type": "string"}));
        }
    }
    let own = create(&shop, "own_cluster", "cf-eu10");
    assert!(own["properties"].get("oidc").is_none());
}

#[test]
fn the_number_of_nodes_has_the_known_bounds_and_defaults_on_create_only() {
    let shop = Shop::new();
    let cases = [
        ("azure", 3, 3, 3, 80, 20),
        ("aws", 3, 3, 3, 80, 20),
        ("preview", 3, 3, 3, 80, 20),
        ("gcp", 3, 3, 3, 80, 20),
        ("azure_lite", 2, 2, 2, 40, 10),
        ("openstack", 2, 3, 2, 40, 8),
    ];
    for (plan, least, fewest, most_from, most_to, most) in cases {
        let (on_create, on_update) = (create(&shop, plan, "cf-eu10"), update(&shop, plan));
        let field =
            |schema: &Value, field: &str, key: &str| schema["properties"][field][key].clone();

        for schema in [&on_create, &on_update] {
            assert_eq!(field(schema, "autoScalerMin", "minimum"), least, "{plan}");
            assert_eq!(field(schema, "autoScalerMin", "maximum"), Value::Null, "{plan}");
            assert_eq!(field(schema, "autoScalerMax", "minimum"), most_from, "{plan}");
            assert_eq!(field(schema, "autoScalerMax", "maximum"), most_to, "{plan}");
        }
        assert_eq!(field(&on_create, "autoScalerMin", "default"), fewest, "{plan}");
        assert_eq!(field(&on_create, "autoScalerMax", "default"), most, "{plan}");
        assert_eq!(field(&on_update, "autoScalerMin", "default"), Value::Null, "{plan}");
        assert_eq!(field(&on_update, "autoScalerMax", "default"), Value::Null, "{plan}");
    }
}

#[test]
fn regions_depend_on_plan_platform_and_eu_access() {
    let shop = Shop::new();
    let cases: [(&str, &str, &[&str]); 14] = [
        ("azure", "cf-eu10", &AZURE),
        ("azure", "cf-ch20", &["switzerlandnorth"]),
        ("azure_lite", "cf-eu20", &AZURE),
        ("azure_lite", "cf-eu11", &["switzerlandnorth"]),
        ("aws", "cf-eu10", &AWS),
        ("aws", "cf-eu11", &["eu-central-1"]),
        ("preview", "cf-ch20", &["eu-central-1"]),
        ("gcp", "cf-eu10", &["europe-west3", "asia-south1", "us-central1"]),
        ("gcp", "cf-eu11", &["europe-west3", "asia-south1", "us-central1"]),
        ("openstack", "cf-eu11", &["eu-de-1", "ap-sa-1"]),
        ("free", "cf-eu10", &AWS),
        ("free", "cf-eu20", &AZURE),
        ("free", "cf-eu30", &AWS),
        ("free", "cf-ch20", &["switzerlandnorth"]),
    ];
    for (plan, region, regions) in cases {
        let schema = create(&shop, plan, region);

        assert_eq!(schema["properties"]["region"]["enum"], json!(regions), "{plan} in {region}");
    }
}

#[test]
fn machine_types_come_with_the_words_people_see() {
    let shop = Shop::new();

    let (on_create, on_update) = (create(&shop, "aws", "cf-eu10"), update(&shop, "aws"));

    let m5 = ["m5.xlarge", "m5.2xlarge", "m5.4xlarge", "m5.8xlarge", "m5.12xlarge"];
    let m6i = ["m6i.xlarge", "m6i.2xlarge", "m6i.4xlarge", "m6i.8xlarge", "m6i.12xlarge"];
    let machines = |schema: &Value| schema["properties"]["machineType"].clone();
    assert_eq!(machines(&on_create)["enum"], json!(m5));
    assert_eq!(machines(&on_update)["enum"], json!([m5, m6i].concat()));
    let shown = &machines(&on_create)["_enumDisplayName"];
    assert_eq!(shown["m5.12xlarge"], "m5.12xlarge (48vCPU, 192GB RAM)");
    assert_eq!(shown.as_object().unwrap().len(), m5.len());
}

#[test]
fn a_name_is_required_and_a_change_requires_nothing() {
    let shop = Shop::open();

    let name = create(&shop, "aws", "cf-eu10")["properties"]["name"].clone();

    assert_eq!(
        name,
        json!({"type": "string", "title": "Cluster Name", "pattern": "^[a-zA-Z0-9-]*$",
            "minLength": 1, "_BTPdefaultTemplate": {"elements": ["saSubdomain"]}})
    );
    assert_eq!(create(&shop, "trial", "cf-eu10")["required"], json!(["name"]));
    assert_eq!(
        create(&shop, "own_cluster", "cf-eu10")["required"],
        json!(["name", "kubeconfig", "shootName", "shootDomain"])
    );
    assert!(update(&shop, "aws").get("required").is_none());
    assert!(create(&shop, "aws", "cf-eu10").get("additionalProperties").is_none());
}

#[test]
fn a_closed_schema_names_all_that_is_understood_and_forbids_the_rest() {
    let (open, closed) = (Shop::open(), Shop::new());
    for plan in PLANS {
        for (open, closed) in [
            (create(&open, plan, "cf-eu10"), create(&closed, plan, "cf-eu10")),
            (update(&open, plan), update(&closed, plan)),
        ] {
            let keys = |schema: &Value| -> Vec<String> {
                schema["properties"].as_object().unwrap().keys().cloned().collect()
            };
            assert_eq!(closed["additionalProperties"], false, "{plan}");
            assert!(keys(&open).iter().all(|key| keys(&closed).contains(key)), "{plan}");
            assert_eq!(open["_controlsOrder"], closed["_controlsOrder"], "{plan}");
        }
    }
    let trial = create(&closed, "trial", "cf-eu10")["properties"].clone();
    assert!(trial.get("provider").is_some() && trial.get("region").is_some());
    let aws = create(&closed, "aws", "cf-eu10")["properties"].clone();
    assert!(aws.get("provider").is_none() && aws.get("kubeconfig").is_none());
    assert_eq!(aws["name"]["maxLength"], 255);
    assert_eq!(aws["oidc"]["additionalProperties"], false);
}
