//! Gardens of several versions of Gardener: what is written differs, what comes of it does not.

use std::{pin::pin, time::Duration};

use base::Clock;
use clients::{
    CallLimits as Calls, Component, Error, Gate,
    kubernetes::{Cluster, Resource},
};
use provisioner::{
    chores::garden_features,
    requests::{Provision, UpgradeShoot},
};
use secrecy::SecretString;
use serde_json::{Value, json};
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Kind, Rule},
};

use crate::world::{World, aws, caller, issuer};

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

/// Reads something from a runtime with a token for this audience.
pub(crate) async fn log_in(
    world: &World,
    runtime: &str,
    audience: &str,
) -> Result<Vec<Value>, Error> {
    log_in_with(world, runtime, audience, &[]).await
}

/// The same with more claims in the token.
pub(crate) async fn log_in_with(
    world: &World,
    runtime: &str,
    audience: &str,
    more: &[(&str, &str)],
) -> Result<Vec<Value>, Error> {
    let running = &world.landscape.running;
    let landscape_issuer = running.landscape.issuer();
    landscape_issuer.set_audience(Some(vec![audience.to_owned()])).unwrap();
    let groups = ["runtimeAdmin".to_owned()];
    let claims = landscape_issuer.claims("kcp", "ada@example.org", &[], &groups);
    let mut claims = serde_json::to_value(&claims).unwrap();
    for (claim, value) in more {
        claims[*claim] = json!(value);
    }
    let token = landscape_issuer.sign(&claims).unwrap();
    landscape_issuer.set_audience(None).unwrap();
    let own = running.clusters().kubeconfig(runtime).unwrap();
    let lines = own.lines().map(|line| {
        let at = line.len() - line.trim_start().len();
        let own = line.trim_start().starts_with("token:");
        if own { format!("{}token: {token}", &line[..at]) } else { line.to_owned() }
    });
    let kubeconfig = SecretString::from(lines.collect::<Vec<_>>().join("\n"));
    let calls = Calls { call: Duration::from_secs(10), ..Calls::CLUSTER };
    let gate = Gate::new(Component::RUNTIME, calls, Clock::running());
    let cluster = Cluster::connect(gate, &kubeconfig).await?;
    cluster.objects(Resource::core("Namespace", "namespaces"), None).some(1).await
}

#[tokio::test(flavor = "multi_thread")]
async fn users_of_the_issuer_get_into_the_runtime_whichever_gardener_made_it() {
    for (gardener, structured) in [("1.65", false), ("1.117", true), ("1.149", true)] {
        let world = World::playing(gardener).await;
        let made = world.provisioned(with_issuer(&world, "users", "1.32.4")).await;

        log_in(&world, "users", "kcp").await.unwrap();

        let foreign = log_in(&world, "users", "somebody-else").await.unwrap_err();
        assert_eq!(foreign.kind, clients::Kind::Unauthorized, "{gardener}");
        let server = spec(&world, "users").await["kubernetes"]["kubeAPIServer"].clone();
        assert_eq!(server["structuredAuthentication"].is_object(), structured, "{gardener}");
        assert_eq!(server["oidcConfig"].is_object(), !structured, "{gardener}");
        assert_eq!(config_map(&world, &made.runtime_id).is_some(), structured, "{gardener}");
        let journal = world.engine_journal(&made.id).await;
        let notes: Vec<_> = journal.iter().filter_map(|entry| entry.reason.as_deref()).collect();
        assert!(!notes.iter().any(|note| note.contains("warns")), "{gardener}: {notes:?}");

        let removed =
            world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();
        world.success_of(&removed.id).await;
        assert_eq!(config_map(&world, &made.runtime_id), None, "{gardener}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_to_kubernetes_1_32_carries_the_issuer_over() {
    let world = World::playing("1.117").await;
    let made = world.provisioned(with_issuer(&world, "carried", "1.31.4")).await;
    let before = spec(&world, "carried").await;
    assert!(before["kubernetes"]["kubeAPIServer"]["oidcConfig"].is_object());
    assert_eq!(config_map(&world, &made.runtime_id), None);
    log_in(&world, "carried", "kcp").await.unwrap();

    let newer =
        UpgradeShoot { kubernetes_version: Some("1.32.4".into()), ..UpgradeShoot::default() };
    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, newer).await.unwrap();
    world.success_of(&begun.id).await;

    let after = spec(&world, "carried").await;
    assert_eq!(after["kubernetes"]["version"], "1.32.4");
    assert_eq!(after["kubernetes"]["kubeAPIServer"]["oidcConfig"], Value::Null);
    log_in(&world, "carried", "kcp").await.unwrap();
    // What Gardener would draw or default anew stays.
    for field in ["purpose", "seedName", "maintenance"] {
        assert_eq!(after[field], before[field], "{field}");
    }

    let mut other = issuer(&world.landscape);
    other.client_id = "another-client".into();
    let change = UpgradeShoot { oidc: Some(other), ..UpgradeShoot::default() };
    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, change).await.unwrap();
    world.success_of(&begun.id).await;

    log_in(&world, "carried", "another-client").await.unwrap();
    assert!(log_in(&world, "carried", "kcp").await.is_err(), "the former client is still let in");
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
async fn an_account_may_be_a_credentials_binding_alone() {
    let world = World::playing("1.117").await;
    let server = world.landscape.running.clusters().server();
    let older = "secretbindings.core.gardener.cloud";
    assert!(server.remove("garden", older, NAMESPACE, "aws-free-1").unwrap());

    let made = world.provisioned(with_issuer(&world, "newer", "1.31.4")).await;

    let found = spec(&world, "newer").await;
    assert_eq!(found["credentialsBindingName"], "aws-free-1");
    assert_eq!(found["secretBindingName"], Value::Null);
    let change = UpgradeShoot { auto_scaler_max: Some(7), ..UpgradeShoot::default() };
    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, change).await.unwrap();
    world.success_of(&begun.id).await;
    let removed = world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();
    world.success_of(&removed.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_garden_may_have_no_secret_bindings_or_show_none() {
    for (status, name, binding) in
        [(404, "kindless", "credentialsBindingName"), (403, "hidden", "secretBindingName")]
    {
        let world = World::playing("1.117").await;
        let answer = Kind::Status { status, body: None };
        let rule =
            Rule::next(1_000, answer).of("gardener").on("GET", "*/secretbindings/aws-free-1");
        world.landscape.running.landscape.troubles().add(rule).unwrap();

        world.provisioned(with_issuer(&world, name, "1.31.4")).await;

        assert_eq!(spec(&world, name).await[binding], "aws-free-1", "{status}");
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

#[tokio::test(flavor = "multi_thread")]
async fn a_config_map_of_somebody_else_is_neither_changed_nor_removed() {
    let world = World::sqlite().await;
    let made = world.provisioned(with_issuer(&world, "foreign", "1.32.4")).await;
    let server = world.landscape.running.clusters().server();
    let mut map = config_map(&world, &made.runtime_id).unwrap();
    map["metadata"] = json!({
        "name": map["metadata"]["name"], "namespace": NAMESPACE,
        "labels": {"kcp.provisioner.kyma-project.io/runtime-id": "another"},
    });
    server.apply("garden", "somebody", &map).unwrap();

    let change = UpgradeShoot { auto_scaler_max: Some(20), ..UpgradeShoot::default() };
    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, change).await.unwrap();
    let failed = world.end_of(&begun.id).await;

    assert_eq!(failed.state, provisioner::status::OperationState::Failed);
    let said = failed.last_error.unwrap().message;
    assert!(said.contains("it is not the one of this runtime"), "{said}");
    let removed = world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();
    world.success_of(&removed.id).await;
    assert!(config_map(&world, &made.runtime_id).is_some());
}

/// How often the garden was asked for the fields of its Shoots.
fn descriptions(world: &World) -> usize {
    let all = world.landscape.running.landscape.ledger().all(&Filter::default()).unwrap();
    all.iter()
        .filter(|one| one.phase == Phase::Received)
        .filter(|one| one.about.route.contains("/openapi/v3/apis/core.gardener.cloud/v1beta1"))
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_garden_is_described_before_a_step_asks_and_again_after_five_minutes() {
    let world = World::sqlite().await;
    let gardener = &world.env().gardener;
    let held = Clock::held_at(world.landscape.clock.now());
    let mut chore = pin!(garden_features::keep(gardener.clone(), held.clone()));

    // As a step asks: it gets what the chore reads.
    let features = tokio::select! {
        biased;
        () = &mut chore => unreachable!("it goes on until it is dropped"),
        features = gardener.features() => features.unwrap(),
    };
    assert!(features.version().is_some());
    assert_eq!(descriptions(&world), 1);

    held.advance(Duration::from_mins(5));
    tokio::select! {
        biased;
        () = &mut chore => unreachable!("it goes on until it is dropped"),
        () = world.until(async || descriptions(&world) == 2) => {}
    }
}
