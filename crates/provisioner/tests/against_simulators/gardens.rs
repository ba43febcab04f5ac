//! Gardens of several versions of Gardener: what is written differs, what comes of it does not.

mod descriptions;
mod issuers;

use provisioner::requests::{Provision, UpgradeShoot};
use serde_json::{Value, json};

use crate::world::{World, aws, caller, issuer};

pub(crate) use issuers::{log_in, log_in_with};

pub(crate) const NAMESPACE: &str = "garden-kyma";

/// A cluster on AWS whose users come from the landscape's issuer.
pub(crate) fn with_issuer(world: &World, name: &str, kubernetes: &str) -> Provision {
    let mut request = aws(name);
    request.cluster.oidc = Some(issuer(&world.landscape));
    request.cluster.kubernetes_version = Some(kubernetes.into());
    request
}

/// The `spec` of a Shoot in the garden.
pub(crate) async fn spec(world: &World, name: &str) -> Value {
    let shoot = world.env().gardener.shoot(name).await.unwrap().unwrap();
    serde_json::to_value(shoot.spec).unwrap()
}

/// The `ConfigMap` of a runtime.
pub(crate) fn config_map(world: &World, runtime: &str) -> Option<Value> {
    let server = world.landscape.running.clusters().server();
    let name = format!("kcp-oidc-{runtime}");
    server.get("garden", "configmaps", NAMESPACE, &name).map(|map| (*map).clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_gardener_took_away_with_an_upgrade_of_its_own_comes_back_with_the_next_change()
 {
    let world = World::playing("1.117").await;
    let made = world.provisioned(with_issuer(&world, "forced", "1.31.4")).await;
    let newer = json!({"version": "1.32.4", "kubeAPIServer": {"oidcConfig": null}});
    world.env().gardener.merge("forced", &json!({"spec": {"kubernetes": newer}})).await.unwrap();
    assert!(log_in(&world, "forced", "kcp").await.is_err(), "the issuer is still known");

    let nothing = UpgradeShoot::default();
    let begun =
        world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, nothing).await.unwrap();
    world.success_of(&begun.id).await;

    log_in(&world, "forced", "kcp").await.unwrap();
    let after = spec(&world, "forced").await;
    assert_eq!(after["kubernetes"]["version"], "1.32.4");
    assert_eq!(after["kubernetes"]["kubeAPIServer"]["oidcConfig"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn kubernetes_1_34_goes_by_the_newer_names_where_the_older_ones_are_forbidden() {
    let world = World::playing("1.149").await;
    let server = world.landscape.running.clusters().server();
    let binding = "credentialsbindings.security.gardener.cloud";
    assert!(server.remove("garden", binding, NAMESPACE, "aws-free-1").unwrap());

    let made = world.provisioned(with_issuer(&world, "new", "1.34.0")).await;
    let old = world.provisioned(with_issuer(&world, "old", "1.33.4")).await;

    let names = |spec: &Value| {
        let keys = ["cloudProfileName", "secretBindingName", "credentialsBindingName"];
        keys.map(|key| spec[key].as_str().map(str::to_owned))
    };
    let new = spec(&world, "new").await;
    assert_eq!(names(&new), [None, None, Some("aws-free-1".into())]);
    assert_eq!(new["cloudProfile"], json!({"kind": "CloudProfile", "name": "aws"}));
    let found = server.get("garden", binding, NAMESPACE, "aws-free-1").unwrap();
    assert_eq!(found["credentialsRef"]["name"], "aws-free-1");
    let before = spec(&world, "old").await;
    assert_eq!(names(&before), [Some("aws".into()), Some("aws-free-1".into()), None]);

    let newer =
        UpgradeShoot { kubernetes_version: Some("1.34.0".into()), ..UpgradeShoot::default() };
    let begun = world.provisioner.upgrade_shoot(&caller(), &old.runtime_id, newer).await.unwrap();
    world.success_of(&begun.id).await;

    let after = spec(&world, "old").await;
    assert_eq!(names(&after), [None, None, Some("aws-free-1".into())]);
    for runtime in [made.runtime_id, old.runtime_id] {
        let removed = world.provisioner.deprovision(&caller(), &runtime, false).await.unwrap();
        world.success_of(&removed.id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_gardener_warns_of_is_shown_with_the_operation() {
    let world = World::playing("1.117").await;

    // Gardener would keep a static token for this version, so it is told not to, and warns of the field.
    let made = world.provisioned(with_issuer(&world, "warned", "1.26.4")).await;

    let journal = world.engine_journal(&made.id).await;
    let entry = journal.iter().find(|entry| entry.step.as_deref() == Some("Create_Shoot")).unwrap();
    let note = entry.reason.as_deref().unwrap();
    assert!(note.contains("enableStaticTokenKubeconfig"), "{note}");
}
