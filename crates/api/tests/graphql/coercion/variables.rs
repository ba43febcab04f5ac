//! How strictly values in variables are taken.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{PROVISION, SHOOT, shoot};
use crate::service::Service;

#[tokio::test]
async fn variables_that_do_not_fit_are_422_with_their_path() {
    let service = Service::start().await;
    let cases = [
        (json!({}), "must be defined", json!(["variable", "config"])),
        (json!({"config": null}), "cannot be null", json!(["variable", "config"])),
        (
            json!({"config": []}),
            "cannot use list as UpgradeShootInput",
            json!(["variable", "config"]),
        ),
        (json!({"config": {}}), "must be defined", json!(["variable", "config", "gardenerConfig"])),
        (
            json!({"config": {"gardenerConfig": {}, "more": 1}}),
            "unknown field",
            json!(["variable", "config", "more"]),
        ),
        (
            shoot(&json!({"region": "eu"})),
            "unknown field",
            json!(["variable", "config", "gardenerConfig", "region"]),
        ),
        (
            shoot(&json!({"machineType": 5})),
            "cannot use number as String",
            json!(["variable", "config", "gardenerConfig", "machineType"]),
        ),
        (
            shoot(&json!({"maxSurge": "many"})),
            "cannot use string as Int",
            json!(["variable", "config", "gardenerConfig", "maxSurge"]),
        ),
        (
            shoot(&json!({"maxSurge": 1.5})),
            "cannot use number as Int",
            json!(["variable", "config", "gardenerConfig", "maxSurge"]),
        ),
        (
            shoot(&json!({"maxSurge": 3_000_000_000_u32})),
            "cannot use number as Int",
            json!(["variable", "config", "gardenerConfig", "maxSurge"]),
        ),
        (
            shoot(&json!({"shootNetworkingFilterDisabled": "true"})),
            "cannot use string as Boolean",
            json!(["variable", "config", "gardenerConfig", "shootNetworkingFilterDisabled"]),
        ),
        (
            json!({"config": {"gardenerConfig": {}, "administrators": "ada"}}),
            "must be an array",
            json!(["variable", "config", "administrators"]),
        ),
        (
            json!({"config": {"gardenerConfig": {}, "administrators": ["ada", null]}}),
            "cannot be null",
            json!(["variable", "config", "administrators", 1]),
        ),
    ];

    for (variables, message, path) in cases {
        let reply = service.run_with(SHOOT, variables.clone()).await;

        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{variables}: {}", reply.text);
        let expected = json!({
            "message": message, "path": path,
            "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
        });
        assert_eq!(reply.error(), expected, "{variables}");
    }
    assert_eq!(service.operations().await, 1);
}

#[tokio::test]
async fn enumerations_and_labels_in_variables_are_checked() {
    let service = Service::start().await;
    let config = |kyma: Value, labels: Value| {
        json!({"config": {
            "runtimeInput": {"name": "n", "labels": labels},
            "clusterConfig": {"gardenerConfig": {
                "name": "c", "provider": "gcp", "targetSecret": "s", "region": "r", "workerCidr": "w",
                "providerSpecificConfig": {"gcpConfig": {"zones": ["a"]}},
            }},
            "kymaConfig": {"version": "2", "profile": kyma},
        }})
    };

    let good = service.run_with(PROVISION, config(json!("Production"), json!({"a": [1]}))).await;
    let profile = service.run_with(PROVISION, config(json!("Large"), json!({}))).await;
    let labels = service.run_with(PROVISION, config(Value::Null, json!(["a"]))).await;

    // Its values fit their types; a rule of the provisioner refuses one of them.
    assert_eq!(good.status, StatusCode::OK, "{}", good.text);
    assert_eq!(profile.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(profile.error()["message"], "Large is not a valid KymaProfile");
    assert_eq!(labels.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(labels.error()["message"], "cannot use list as Labels");
}
