//! How parameters are read, merged and shown.

use serde_json::{Value, from_value, json};

use super::*;

fn oidc(client: &str) -> Oidc {
    Oidc { client_id: client.into(), issuer_url: "https://i.test/".into(), ..Oidc::default() }
}

#[test]
fn unknown_parameters_are_left_out_and_wrong_types_are_refused() {
    let read: Provisioning =
        from_value(json!({"autoScalerMin": 4, "somethingElse": 1, "name": null})).unwrap();

    assert_eq!(read, Provisioning { auto_scaler_min: Some(4), ..Provisioning::default() });
    let wrong = [
        json!({"machineType": 4}),
        json!({"autoScalerMin": 4.5}),
        json!({"maxSurge": -1}),
        json!({"oidc": ["clientID"]}),
    ];
    for order in wrong {
        assert!(from_value::<Provisioning>(order.clone()).is_err(), "{order}");
    }
}

#[test]
fn what_is_not_said_is_not_stored() {
    let order = json!({"name": "dev", "administrators": [], "licence_type": "L"});

    let read: Provisioning = from_value(order.clone()).unwrap();

    assert_eq!(serde_json::to_value(read).unwrap(), order);
    assert_eq!(serde_json::to_value(Update::default()).unwrap(), Value::Object(<_>::default()));
}

#[test]
fn a_change_replaces_what_it_says_and_keeps_the_rest() {
    let before = Provisioning {
        name: "dev".into(),
        auto_scaler_max: Some(9),
        administrators: Some(vec!["jo".into()]),
        oidc: Some(oidc("old")),
        ..Provisioning::default()
    };
    let update = Update {
        auto_scaler_min: Some(5),
        machine_type: Some("m6i.xlarge".into()),
        administrators: Some(vec![]),
        oidc: Some(Oidc::default()),
        ..Update::default()
    };

    let after = before.changed_by(&update);

    assert_eq!(
        after,
        Provisioning {
            auto_scaler_min: Some(5),
            machine_type: Some("m6i.xlarge".into()),
            ..before.clone()
        }
    );
}

#[test]
fn an_issuer_fills_its_gaps_but_keeps_client_and_address_of_its_own() {
    let defaults = Oidc {
        client_id: "default".into(),
        groups_claim: "groups".into(),
        signing_algs: vec!["RS256".into()],
        ..Oidc::default()
    };

    let merged = oidc("mine").over(&defaults);

    assert_eq!((merged.client_id.as_str(), merged.issuer_url.as_str()), ("mine", "https://i.test"));
    assert_eq!((merged.groups_claim.as_str(), merged.signing_algs.len()), ("groups", 1));
}

#[test]
fn a_kubeconfig_is_neither_printed_nor_shown() {
    let order = Provisioning {
        kubeconfig: Some(Sensitive::from("top secret".to_owned())),
        ..Provisioning::default()
    };

    assert!(!format!("{order:?}").contains("top secret"));
    assert_eq!(order.shown(), Provisioning::default());
}
