//! Which changes are accepted, and what the others are told.

use broker::catalog::{Change, Orderer, Refusal, Rule};
use domain::parameters::{Cluster, Provisioning, Update};
use serde_json::{Value, json};

use crate::support::Shop;

fn change(
    shop: &Shop,
    plan: &str,
    stored: &Provisioning,
    parameters: Option<&Value>,
    active: Option<bool>,
) -> Result<Update, Refusal> {
    let place = shop.place("cf-eu10");
    let change = Change { place: &place, stored, cluster: None, parameters, active };
    shop.catalog.check_update(&shop.offer, shop.plan(plan), &change)
}

#[test]
fn a_change_may_ask_for_machine_types_that_an_order_may_not() {
    let shop = Shop::new();
    let stored = Provisioning::default();
    let asked = json!({"machineType": "m6i.xlarge"});

    let update = change(&shop, "aws", &stored, Some(&asked), None).unwrap();

    assert_eq!(update.machine_type.as_deref(), Some("m6i.xlarge"));
    let refusal = change(&shop, "aws", &stored, Some(&json!({"machineType": "x"})), None);
    let refusal = refusal.unwrap_err();
    assert_eq!((refusal.rule, refusal.fields), (Rule::Schema, vec!["/machineType".to_owned()]));
    assert!(refusal.description.starts_with("while validating update parameters: machineType: "));
}

#[test]
fn the_number_of_nodes_is_judged_together_with_what_is_stored() {
    let shop = Shop::new();
    let stored = Provisioning { auto_scaler_max: Some(15), ..Provisioning::default() };

    let refusal =
        change(&shop, "aws", &stored, Some(&json!({"autoScalerMin": 16})), None).unwrap_err();

    assert_eq!(refusal.rule, Rule::AutoScaler);
    assert!(
        refusal.description.starts_with("AutoScalerMax 15 should be larger than AutoScalerMin 16")
    );
    assert!(change(&shop, "aws", &stored, Some(&json!({"autoScalerMin": 15})), None).is_ok());
}

#[test]
fn the_numbers_of_nodes_that_a_change_names_fit_the_runtime_that_there_is() {
    let shop = Shop::new();
    let place = shop.place("cf-eu10");
    let orderer = Orderer { user_id: "jo@example.test", license_type: None };
    let mut stored = Provisioning { name: "a".into(), ..Provisioning::default() };
    let plan = shop.plan("aws");
    let resolved = shop.catalog.resolve(plan, &place, &stored, &orderer, [1; 16]).unwrap();
    let usual = resolved.cluster.unwrap();
    let zones = vec![usual.zones[0].clone(); 4];
    let other = Cluster { auto_scaler_min: 5, auto_scaler_max: 30, zones, ..usual.clone() };
    let ask = |stored: &Provisioning, cluster: &Cluster, parameters: &Value| {
        let (cluster, parameters) = (Some(cluster), Some(parameters));
        let change = Change { place: &place, stored, cluster, parameters, active: None };
        shop.catalog.check_update(&shop.offer, plan, &change)
    };
    let text = |min: &str, max: &str, low: u32, high: u32, there: &str| {
        format!(
            "AutoScalerMax {high} should be larger than AutoScalerMin {low}. User provided values \
             min:{min}, max:{max}; {there}"
        )
    };
    let has = "the runtime has min:5, max:30";
    let few = "autoScalerMax: 3 nodes are too few for 4 zones, each zone needs room for one";
    for (cluster, parameters, rule, field, expected) in [
        (
            &usual,
            json!({"autoScalerMin": 21}),
            Rule::AutoScaler,
            "/autoScalerMin",
            text("21", "<nil>", 21, 20, "plan defaults min:3, max:20"),
        ),
        (
            &other,
            json!({"autoScalerMin": 31}),
            Rule::AutoScaler,
            "/autoScalerMin",
            text("31", "<nil>", 31, 30, has),
        ),
        (
            &other,
            json!({"autoScalerMax": 4}),
            Rule::AutoScaler,
            "/autoScalerMax",
            text("<nil>", "4", 5, 4, has),
        ),
        (
            &other,
            json!({"autoScalerMin": 3, "autoScalerMax": 3}),
            Rule::Nodes,
            "/autoScalerMax",
            few.to_owned(),
        ),
    ] {
        let refusal = ask(&stored, cluster, &parameters).unwrap_err();

        assert_eq!((refusal.rule, refusal.fields), (rule, vec![field.to_owned()]), "{parameters}");
        assert_eq!(refusal.description, expected);
    }
    // Not by the plan's usual numbers, nor by what was once asked for: the runtime has others.
    stored.auto_scaler_max = Some(7);
    for parameters in [
        json!({"autoScalerMin": 25}),
        json!({"autoScalerMax": 5}),
        json!({"autoScalerMin": 3, "autoScalerMax": 4}),
        json!({"machineType": "m6i.xlarge"}),
    ] {
        assert!(ask(&stored, &other, &parameters).is_ok(), "{parameters}");
    }
}

#[test]
fn saying_nothing_is_a_change_of_nothing() {
    let shop = Shop::new();
    let stored = Provisioning::default();
    for parameters in [None, Some(&Value::Null), Some(&json!({}))] {
        let update = change(&shop, "aws", &stored, parameters, None);

        assert_eq!(update, Ok(Update::default()));
    }
}

#[test]
fn only_what_is_being_deactivated_expires() {
    let shop = Shop::new();
    let stored = Provisioning::default();
    let asked = json!({"expired": true});
    let expire = |plan, active| change(&shop, plan, &stored, Some(&asked), active);

    assert!(expire("trial", Some(false)).unwrap().expired);
    for active in [None, Some(true)] {
        assert_eq!(
            expire("trial", active).unwrap_err().description,
            "context.active=false is required for expiration"
        );
    }
}

#[test]
fn bad_issuers_sizes_and_kubeconfigs_are_refused_in_changes_too() {
    let shop = Shop::new();
    let stored = Provisioning::default();
    let cases = [
        ("aws", json!({"oidc": {"clientID": "c", "issuerURL": "http://i.test"}}), Rule::Oidc),
        ("aws", json!({"oidc": {"clientID": 1}}), Rule::Form),
        ("trial", json!({"machineType": "m5.12xlarge"}), Rule::FixedSize),
        ("own_cluster", json!({"kubeconfig": "%"}), Rule::Kubeconfig),
        ("aws", json!({"maxSurge": -1}), Rule::Form),
    ];
    for (plan, parameters, rule) in cases {
        let refusal = change(&shop, plan, &stored, Some(&parameters), None).unwrap_err();

        assert_eq!(refusal.rule, rule, "{plan} {parameters}");
        assert!(!refusal.fields.is_empty(), "{plan} {parameters}");
    }
}

#[test]
fn an_instance_that_changes_its_plan_keeps_what_the_plan_allows_and_gets_what_is_nearest_otherwise()
{
    let shop = Shop::new();
    let orderer = Orderer { user_id: "jo@example.test", license_type: None };
    let table = [
        // Nodes asked for in azure_lite, and the nodes in azure.
        (json!({"name": "a", "region": "westeurope"}), (3, 10)),
        (
            json!({"name": "a", "region": "westeurope", "autoScalerMin": 2, "autoScalerMax": 2}),
            (3, 3),
        ),
        (
            json!({"name": "a", "region": "westeurope", "autoScalerMin": 5, "autoScalerMax": 40}),
            (5, 40),
        ),
    ];
    for (parameters, (min, max)) in table {
        let mut parameters: Provisioning = serde_json::from_value(parameters).unwrap();
        let place = shop.place("cf-eu20");
        let plan = shop.plan("azure_lite");
        let resolved = shop.catalog.resolve(plan, &place, &parameters, &orderer, [1; 16]).unwrap();
        let mut moved = resolved.clone();

        shop.catalog.move_to(shop.plan("azure"), &mut parameters, &mut moved);

        let (before, after) = (resolved.cluster.unwrap(), moved.cluster.unwrap());
        assert_eq!((after.auto_scaler_min, after.auto_scaler_max), (min, max));
        assert_eq!(parameters.auto_scaler_max, Some(i64::from(max)));
        assert_eq!((after.machine_type, after.region), (before.machine_type, before.region));
        assert_eq!((after.zones, after.worker_cidr), (before.zones, before.worker_cidr));
        assert_eq!(moved.licence_type, None);
    }
}

#[test]
fn a_machine_that_the_new_plan_does_not_offer_becomes_its_usual_one() {
    let shop = Shop::new();
    let orderer = Orderer { user_id: "jo@example.test", license_type: None };
    let mut parameters = Provisioning { name: "a".into(), ..Provisioning::default() };
    let place = shop.place("cf-eu10");
    let resolved = shop.catalog.resolve(shop.plan("free"), &place, &parameters, &orderer, [1; 16]);
    let mut moved = resolved.unwrap();
    moved.cluster.as_mut().unwrap().machine_type = "abacus".into();

    shop.catalog.move_to(shop.plan("aws"), &mut parameters, &mut moved);

    assert_eq!(moved.cluster.unwrap().machine_type, "m5.xlarge");
}

#[test]
fn an_instance_that_changes_its_plan_has_the_purpose_of_the_plan_unless_its_order_names_one() {
    let shop = Shop::new();
    let moved = |named: Option<&str>| {
        let mut parameters = Provisioning {
            name: "a".into(),
            purpose: named.map(str::to_owned),
            ..Provisioning::default()
        };
        let mut resolved = shop.resolve("free", "cf-eu10", &parameters);
        let before = resolved.cluster.as_ref().unwrap().purpose.clone();
        shop.catalog.move_to(shop.plan("aws"), &mut parameters, &mut resolved);
        (before, resolved.cluster.unwrap().purpose)
    };

    assert_eq!(moved(None), ("evaluation".into(), "development".into()));
    assert_eq!(moved(Some("")), ("evaluation".into(), "development".into()));
    assert_eq!(moved(Some("testing")), ("testing".into(), "testing".into()));
}
