//! Issuers of users, whichever Gardener made the runtime.

use std::time::Duration;

use base::Clock;
use clients::{
    CallLimits as Calls, Component, Error, Gate,
    kubernetes::{Cluster, Resource},
};
use provisioner::requests::UpgradeShoot;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::{config_map, spec, with_issuer};
use crate::world::{World, caller, issuer};

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
