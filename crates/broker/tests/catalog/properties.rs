//! Any order at all: it is accepted and means something, or is refused and told where.

use std::sync::LazyLock;

use broker::catalog::Rule;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{PLANS, Shop};

static SHOP: LazyLock<Shop> = LazyLock::new(Shop::new);

const FIELDS: [&str; 20] = [
    "name",
    "autoScalerMin",
    "autoScalerMax",
    "maxSurge",
    "maxUnavailable",
    "machineType",
    "region",
    "purpose",
    "volumeSizeGb",
    "zones",
    "targetSecret",
    "components",
    "kymaVersion",
    "administrators",
    "provider",
    "kubeconfig",
    "shootName",
    "shootDomain",
    "oidc",
    "unknown",
];

const OIDC: [&str; 3] = ["clientID", "issuerURL", "signingAlgs"];

/// Any JSON, with a leaning to words and numbers that mean something here.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-2_i64..100).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9-]{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec!["eu-central-1", "eastus", "m5.xlarge", "AWS", "europe", "1"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any_field(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_field() -> impl Strategy<Value = String> {
    let known: Vec<&str> = FIELDS.into_iter().chain(OIDC).collect();
    prop::sample::select(known).prop_map(str::to_owned)
}

fn any_order() -> impl Strategy<Value = Value> {
    prop::collection::vec((any_field(), any_value()), 0..5).prop_map(|fields| {
        let mut order: Map<String, Value> = fields.into_iter().collect();
        order.entry("name").or_insert(json!("dev"));
        Value::Object(order)
    })
}

fn any_place() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["cf-eu10", "cf-eu20", "cf-eu30", "cf-eu11", "cf-ch20", "", "ü1"])
}

/// An order that the schema of an AWS plan allows.
fn schema_order() -> impl Strategy<Value = Value> {
    let machine = prop::sample::select(vec!["m5.xlarge", "m5.2xlarge", "m5.12xlarge"]);
    let region = prop::sample::select(vec!["eu-central-1", "us-west-1", "ap-southeast-2"]);
    let administrators = prop::collection::vec("[a-zA-Zü0-9@. -]{0,20}[a-z]", 0..4);
    (
        "[a-zA-Z0-9-]{1,40}",
        prop::option::of(3_i64..=80),
        prop::option::of(3_i64..=80),
        prop::option::of(machine),
        prop::option::of(region),
        prop::option::of(administrators),
    )
        .prop_map(|(name, min, max, machine, region, administrators)| {
            let order = json!({"name": name, "autoScalerMin": min, "autoScalerMax": max,
                "machineType": machine, "region": region, "administrators": administrators});
            let said = order.as_object().unwrap().clone().into_iter();
            Value::Object(said.filter(|(_, value)| !value.is_null()).collect())
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_order_is_resolved_or_refused_with_its_field(
        plan in prop::sample::select(PLANS.to_vec()),
        place in any_place(),
        order in any_order(),
    ) {
        match SHOP.order(plan, place, &order) {
            Ok(accepted) => {
                let resolved = SHOP.resolve(plan, place, &accepted.parameters);
                prop_assert_eq!(resolved.cluster.is_none(), plan == "own_cluster");
                if let Some(cluster) = resolved.cluster {
                    prop_assert!((1..=4).contains(&cluster.zones.len()));
                    prop_assert!(cluster.auto_scaler_min <= cluster.auto_scaler_max);
                }
            }
            Err(refusal) => {
                prop_assert!(!refusal.description.is_empty());
                // Which provider and which region the platform has is not the order's doing.
                let of_platform = [Rule::FreeProvider, Rule::PlatformRegion].contains(&refusal.rule);
                prop_assert_eq!(refusal.fields.is_empty(), of_platform);
                for field in refusal.fields {
                    let top = field.split('/').nth(1).unwrap_or_default().to_owned();
                    prop_assert!(FIELDS.contains(&top.as_str()) || OIDC.contains(&top.as_str()), "{}", field);
                }
            }
        }
    }

    #[test]
    fn what_the_schema_allows_is_refused_for_the_number_of_nodes_alone(order in schema_order()) {
        let result = SHOP.order("aws", "cf-eu10", &order);

        let min = order["autoScalerMin"].as_i64().unwrap_or(3);
        let max = order["autoScalerMax"].as_i64().unwrap_or(20);
        match result {
            Ok(accepted) => {
                prop_assert!(min <= max);
                let cluster = SHOP.resolve("aws", "cf-eu10", &accepted.parameters).cluster.unwrap();
                prop_assert_eq!(i64::from(cluster.auto_scaler_min), min);
                prop_assert_eq!(i64::from(cluster.auto_scaler_max), max);
            }
            Err(refusal) => {
                prop_assert!(min > max, "{}", refusal);
                prop_assert_eq!(refusal.rule, Rule::AutoScaler);
            }
        }
    }

    #[test]
    fn any_change_is_accepted_or_refused_with_its_field(
        plan in prop::sample::select(PLANS.to_vec()),
        parameters in any_order(),
    ) {
        let (place, stored) = (SHOP.place("cf-eu10"), domain::parameters::Provisioning::default());
        let change = broker::catalog::Change {
            place: &place, stored: &stored, cluster: None, parameters: Some(&parameters), active: None,
        };
        if let Err(refusal) = SHOP.catalog.check_update(&SHOP.offer, SHOP.plan(plan), &change) {
            prop_assert!(!refusal.fields.is_empty(), "{}", refusal);
        }
    }
}
