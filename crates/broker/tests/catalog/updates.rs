//! Which changes are accepted, and what the others are told.

use broker::catalog::{Change, Refusal, Rule};
use domain::parameters::{Provisioning, Update};
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
    let change = Change { place: &place, stored, parameters, active };
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
