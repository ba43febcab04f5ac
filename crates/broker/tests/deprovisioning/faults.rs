//! The fault table: what happens when an outside system does not do what it should.

use std::time::Duration;

use broker::operations::deprovisioning::{DeprovisioningLimits, Input};
use clients::{avs::Scope, edp::Tenant, gardener::BindingKind, ias::ProviderKind};
use serde_json::json;
use simulators::trouble::{Cut, Kind};

use crate::{
    furnishing::{FurnishedInstance, FurnishedParts},
    landscape::NAMESPACE,
    world::{World, impatient, incomplete},
};

const NOTHING: [&str; 0] = [];

/// Every system with the method by which something is removed there.
const SYSTEMS: [(&str, &str); 6] = [
    ("avs", "DELETE"),
    ("edp", "DELETE"),
    ("ias", "PUT"),
    ("reconciler", "DELETE"),
    ("control-plane", "DELETE"),
    ("gardener", "PUT"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_fails_once_in_any_way_anywhere_is_made_again() {
    let world = World::new().await;
    let ways = [
        Kind::Status { status: 500, body: None },
        Kind::Status { status: 401, body: None },
        Kind::Reset { when: Cut::default() },
        Kind::LostAnswer { status: None },
        Kind::LostAnswer { status: Some(500) },
        Kind::Busy { retry_after_seconds: 1, as_date: false },
    ];

    for way in ways {
        let made = world.made(FurnishedParts { services: false, ..FurnishedParts::ALL }).await;
        for (system, method) in SYSTEMS {
            world.landscape.trouble(system, method, 1, way.clone());
        }
        world.landscape.provisioner.mood(|mood| mood.losing = 1);

        let ended = world.removed(&made).await;

        world.landscape.calm();
        assert_eq!(incomplete(&ended), NOTHING, "{way:?}");
        assert_eq!(world.there(&made).await, NOTHING, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_already_is_done_everywhere() {
    let world = World::new().await;
    let made = world.made(FurnishedParts { services: false, ..FurnishedParts::ALL }).await;
    let (env, details) = (&world.eyes, &made.details);
    let avs = env.avs.as_ref().unwrap();
    for id in [details.avs.internal_id.unwrap(), details.avs.external_id.unwrap()] {
        let parent = avs.settings().parent_of("aws", Scope::Internal);
        avs.unlink(parent, id).await.unwrap();
        avs.delete(id).await.unwrap();
    }
    let tenant = Tenant::of_subaccount(&made.order.context.subaccount_id);
    env.edp.as_ref().unwrap().deregister(&tenant).await.unwrap();
    let ias = env.ias.as_ref().unwrap();
    ias.deregister(ProviderKind::Grafana, &made.order.instance_id).await.unwrap();
    let id = details.runtime_id.unwrap().to_string();
    let manager = env.lifecycle_manager.as_ref().unwrap();
    manager.delete(NAMESPACE, &id).await.unwrap();
    manager.remove_kubeconfig(&id).await.unwrap();
    let reconciler = env.reconciler.as_ref().unwrap();
    reconciler.delete_cluster(&id).await.unwrap();
    env.gardener.delete(&made.order.shoot_name).await.unwrap();
    world
        .landscape
        .until(|| async {
            let left = world.there(&made).await;
            left.iter().all(|thing| thing == "account" || thing == "row")
        })
        .await;
    let pool = env.gardener.pool(BindingKind::Secret);
    pool.release(details.target_secret.as_deref().unwrap()).await.unwrap();

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_that_the_provisioner_does_not_know_is_gone() {
    let world = World::new().await;
    let mut order = world.next_order("aws");
    let made = world.landscape.furnish_order(&world.eyes, order.clone(), FurnishedParts::ALL).await;
    // Of another tenant: the provisioner tells no other tenant about it.
    order.context.globalaccount_id = "ga-other".into();
    world.eyes.gardener.delete(&order.shoot_name).await.unwrap();
    world.env.store.insert(&crate::rows::row(&order, Some(&made.details))).await.unwrap();

    let id = world.remove(&order, false).await;
    let ended = world.end_of(id).await;

    assert!(world.env.store.find(&order.instance_id).await.unwrap().is_none());
    assert!(!incomplete(&ended).contains(&"Remove_Runtime"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provisioner_that_is_busy_with_the_runtime_and_cannot_call_that_off_is_waited_for() {
    let world = World::new().await;
    let made = world.made(FurnishedParts { services: false, ..FurnishedParts::ALL }).await;
    world.landscape.provisioner.mood(|mood| mood.busy = 7);

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
    // Each time it is busy, it is asked to call that off.
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 15);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_provisioner_never_ends_is_called_off() {
    let world = World::new().await;
    let made = world.made(FurnishedParts { services: false, ..FurnishedParts::ALL }).await;
    world.landscape.provisioner.mood(|mood| {
        mood.busy = usize::MAX;
        mood.supersedes = true;
    });

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn removals_that_fail_are_ordered_again() {
    let world =
        World::with(DeprovisioningLimits { failing: Duration::from_secs(40), ..impatient() }).await;
    let made = world.made(FurnishedParts { services: false, ..FurnishedParts::ALL }).await;
    world.landscape.provisioner.mood(|mood| mood.failing = 1);

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn services_that_nobody_lets_go_of_lose_their_finalizers_at_the_limit() {
    let world =
        World::with(DeprovisioningLimits { services: Duration::from_secs(2), ..impatient() }).await;
    let made = world.made(FurnishedParts::ALL).await;
    nobody_lets_go(&world, &made).await;

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
    let data: serde_json::Value = serde_json::from_slice(&ended.data).unwrap();
    assert!(data["services_going_since"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_the_services_of_an_account_that_is_cleaned_up() {
    let world =
        World::with(DeprovisioningLimits { services: Duration::from_hours(2), ..impatient() })
            .await;
    let made = world.made(FurnishedParts::ALL).await;
    nobody_lets_go(&world, &made).await;
    let user_agent = Some("accountcleanup-job".to_owned());

    let input = Input { order: made.order.clone(), user_agent, temporary: false };
    let id = world.remove_as(input).await;
    let ended = world.end_of(id).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}

/// The BTP operator of the cluster keeps everything.
async fn nobody_lets_go(world: &World, made: &FurnishedInstance) {
    let cluster = world.landscape.inside(&world.eyes, &made.order.shoot_name).await;
    let maps = clients::kubernetes::Resource::core("ConfigMap", "configmaps");
    let maps = cluster.objects::<serde_json::Value>(maps, Some("kube-system"));
    let scenario = json!({"metadata": {"name": "landscape-scenario"}, "data": {"btp": "never"}});
    maps.create("landscape-scenario", &scenario).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_be_reached_inside_is_removed_all_the_same() {
    let world = World::new().await;
    let made = world.made(FurnishedParts::ALL).await;
    world.landscape.down("runtimes");

    let ended = world.removed(&made).await;

    world.landscape.calm();
    assert_eq!(incomplete(&ended), ["BTPOperator_Cleanup"]);
    assert_eq!(world.there(&made).await, NOTHING, "what was inside is gone with the cluster");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconciler_that_gives_up_is_told_again_when_the_removal_is_tried_again() {
    let world = World::new().await;
    let made = world.made(FurnishedParts { services: false, ..FurnishedParts::ALL }).await;
    let id = made.details.runtime_id.unwrap().to_string();
    let order = |rounds: u32| {
        let with = json!({"id": id, "rounds": rounds});
        world.landscape.running.landscape.order("reconciler", "fail-deletions", &with).unwrap();
    };
    order(1_000_000);

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), ["Check_Cluster_Deregistration", "Remove_Instance"]);
    order(0);
    let again = world.removed_again(&made).await;
    assert_eq!(incomplete(&again), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}
