//! `ConfigMap`s and `CredentialsBinding`s beside a Shoot.

use std::collections::BTreeMap;

use serde_json::json;

use super::{BINDINGS, MAP, MAPS, OLDER, changing::changed};
use crate::{
    faults::{Expected, Fault, for_each_fault},
    garden::{Garden, NAMESPACE, row},
};

#[tokio::test]
async fn a_config_map_is_written_and_removed_after_every_fault() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    let data = |text: &str| BTreeMap::from([("config.yaml".to_owned(), text.to_owned())]);
    let name = |number: usize| format!("m-{number}");
    let runtime = |number: usize| format!("r-{number}");
    let found = |number: usize| {
        let maps = garden.server.list("garden", "configmaps");
        let map = maps.iter().find(|map| map["metadata"]["name"] == name(number).as_str());
        map.map(|map| map["data"]["config.yaml"].as_str().unwrap().to_owned())
    };

    for_each_fault(
        garden.side(),
        row("POST", MAPS),
        changed,
        async |number| gardener.put_config_map(&name(number), &runtime(number), &data("one")).await,
        |number, ()| assert_eq!(found(number).as_deref(), Some("one")),
    )
    .await;
    for_each_fault(
        garden.side(),
        row("PATCH", MAP),
        changed,
        async |number| gardener.put_config_map(&name(number), &runtime(number), &data("two")).await,
        |number, ()| assert_eq!(found(number).as_deref(), Some("two")),
    )
    .await;
    for_each_fault(
        garden.side(),
        row("DELETE", MAP),
        |fault| match fault {
            Fault::Status(404) => Some(Expected::Works),
            fault => changed(fault),
        },
        async |number| gardener.remove_config_map(&name(number), &runtime(number)).await,
        |number, ()| assert_eq!(found(number), None),
    )
    .await;
}

#[tokio::test]
async fn a_credentials_binding_is_made_after_every_fault() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    let name = |number: usize| format!("b-{number}");
    for number in 0..2 * Fault::ALL.len() {
        garden.put(&json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
            "metadata": {"name": name(number), "namespace": NAMESPACE},
            "provider": {"type": "aws"}, "secretRef": {"name": "s", "namespace": NAMESPACE},
        }));
    }
    let made = |number: usize| {
        let all = garden.server.list("garden", "credentialsbindings.security.gardener.cloud");
        let found = all.iter().find(|one| one["metadata"]["name"] == name(number).as_str());
        assert_eq!(found.unwrap()["credentialsRef"]["name"], "s");
    };

    for_each_fault(
        garden.side(),
        row("POST", BINDINGS),
        changed,
        async |number| gardener.put_credentials_binding(&name(number)).await,
        |number, _| made(number),
    )
    .await;
    let second = |number: usize| Fault::ALL.len() + number;
    for_each_fault(
        garden.side(),
        row("GET", OLDER),
        changed,
        async |number| gardener.put_credentials_binding(&name(second(number))).await,
        |number, _| made(second(number)),
    )
    .await;
}
