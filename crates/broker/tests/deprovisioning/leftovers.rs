//! Leftovers: a system that is down is skipped at its limit, listed, and tried again later.

use broker::chores::{
    leftovers,
    retrigger::{RetriggerResult, retrigger},
};
use engine::{PlantedBug, storage::Snapshot};
use store::{EngineStore, Sealer, engine::Time};

use crate::{
    furnishing::{FurnishedInstance, FurnishedParts},
    world::{World, impatient, incomplete},
};

const WITHOUT_SERVICES: FurnishedParts = FurnishedParts { services: false, ..FurnishedParts::ALL };

/// Whichever row says something is down: what is skipped, what of it is listed, what is still there.
async fn left(
    world: &World,
    made: &FurnishedInstance,
    ended: &Snapshot,
    steps: &[&str],
    things: &[&str],
) {
    let listed = world.left_of(made).await.unwrap();
    let listed: Vec<&str> = listed.left.iter().map(|left| left.step.as_str()).collect();
    let mut expected = steps.to_vec();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    let mut skipped = incomplete(ended);
    assert_eq!(skipped.pop(), Some("Remove_Instance"), "the row is kept");
    skipped.sort_unstable();
    assert_eq!(skipped, expected);
    let mut there = world.there(made).await;
    assert_eq!(there.pop().as_deref(), Some("row, marked"));
    assert_eq!(there, things);
}

/// Tried again, only what was left runs, and everything is gone.
async fn gone_when_tried_again(world: &World, made: &FurnishedInstance, ended: &Snapshot) {
    let again = world.removed_again(made).await;

    assert_eq!(again.root, ended.id);
    assert_eq!(incomplete(&again), Vec::<&str>::new());
    let ran = world.steps_of(again.id).await;
    let left: std::collections::BTreeSet<String> =
        incomplete(ended).into_iter().map(str::to_owned).collect();
    assert_eq!(ran, left, "only what was left runs");
    assert_eq!(world.there(made).await, Vec::<String>::new());
    assert_eq!(world.left_of(made).await, None);
    let instance = &made.order.instance_id;
    let more = retrigger(world.engine.storage(), &world.env.store, instance).await.unwrap();
    assert_eq!(more, RetriggerResult::Nothing);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_system_that_is_down_is_skipped_listed_and_tried_again() {
    let world = World::new().await;
    let table: [(&str, &[&str], &[&str]); 5] = [
        ("avs", &["De-provision_AVS_Evaluations"], &["evaluation", "evaluation"]),
        ("edp", &["EDP_Deregistration"], &["data tenant"]),
        ("ias", &["IAS_Deregistration"], &["service provider"]),
        ("reconciler", &["Deregister_Cluster", "Check_Cluster_Deregistration"], &["configuration"]),
        (
            "control-plane",
            &["Delete_Kyma_Resource", "Check_Kyma_Resource_Deleted", "Delete_Kubeconfig"],
            &["Kyma", "kubeconfig"],
        ),
    ];

    for (system, steps, things) in table {
        let made = world.made(WITHOUT_SERVICES).await;
        world.landscape.down(system);
        let ended = world.removed(&made).await;
        world.landscape.calm();

        left(&world, &made, &ended, steps, things).await;
        gone_when_tried_again(&world, &made, &ended).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_cluster_may_exist_its_account_and_its_row_are_kept() {
    let world = World::new().await;
    let made = world.made(WITHOUT_SERVICES).await;
    world.landscape.provisioner.mood(|mood| mood.down = true);

    let ended = world.removed(&made).await;

    world.landscape.provisioner.mood(|mood| mood.down = false);
    let steps =
        ["BTPOperator_Cleanup", "Remove_Runtime", "Check_Runtime_Removal", "Release_Subscription"];
    left(&world, &made, &ended, &steps, &["cluster", "account"]).await;
    gone_when_tried_again(&world, &made, &ended).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_never_ends_is_left_to_the_next_one() {
    let limits = broker::operations::deprovisioning::DeprovisioningLimits {
        runtime: std::time::Duration::from_secs(1),
        ..impatient()
    };
    let world = World::with(limits).await;
    let made = world.made(WITHOUT_SERVICES).await;
    world.landscape.provisioner.mood(|mood| mood.stuck = true);

    let ended = world.removed(&made).await;

    let steps = ["Check_Runtime_Removal", "Release_Subscription"];
    left(&world, &made, &ended, &steps, &["cluster", "account"]).await;
    world.eyes.gardener.delete(&made.order.shoot_name).await.unwrap();
    let name = &made.order.shoot_name;
    let gone = || async { world.eyes.gardener.shoot(name).await.unwrap().is_none() };
    world.landscape.until(gone).await;
    gone_when_tried_again(&world, &made, &ended).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_garden_that_is_down_keeps_the_account_until_it_is_back() {
    let world = World::new().await;
    let parts = FurnishedParts { cluster: false, ..WITHOUT_SERVICES };
    let made = world.made(parts).await;
    world.landscape.down("gardener");

    let ended = world.removed(&made).await;
    world.landscape.calm();

    let steps = ["Remove_Runtime", "Check_Runtime_Removal", "Release_Subscription"];
    left(&world, &made, &ended, &steps, &["account"]).await;
    gone_when_tried_again(&world, &made, &ended).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leftovers_are_listed_page_by_page_the_oldest_first() {
    let world = World::new().await;
    let parts =
        FurnishedParts { cluster: false, avs: false, account: false, ..FurnishedParts::ALL };
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(world.made(parts).await);
    }
    world.landscape.down("edp");
    for one in &made {
        world.removed(one).await;
    }

    let (store, operations) = (&world.env.store, &world.env.store.engine());
    let (first, next) = leftovers::list(store, operations, None, 2).await.unwrap();
    let (second, end) = leftovers::list(store, operations, next, 2).await.unwrap();

    let listed: Vec<&str> =
        first.iter().chain(&second).map(|left| left.instance.as_str()).collect();
    let made: Vec<&str> = made.iter().map(|one| one.order.instance_id.as_str()).collect();
    assert_eq!(listed, made);
    assert_eq!(end, None);
    assert_eq!(first[0].left[0].what, "the data tenant in the event data platform");
}

#[tokio::test(flavor = "multi_thread")]
async fn p26_a_removal_that_cannot_be_read_is_listed_and_does_not_fail_its_page() {
    let world = World::new().await;
    let parts =
        FurnishedParts { cluster: false, avs: false, account: false, ..FurnishedParts::ALL };
    let made = world.made(parts).await;
    world.landscape.down("edp");
    world.removed(&made).await;
    let store = &world.env.store;
    let database = store.engine().database().clone();
    let other_keys =
        EngineStore::new(database, Sealer::generate(), Time::Database, PlantedBug::Nothing);

    let (listed, _) = leftovers::list(store, &other_keys, None, 2).await.unwrap();

    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].left[0].what, "what its removal left cannot be read");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_under_way_is_not_begun_twice() {
    let world = World::new().await;
    let made = world.made(WITHOUT_SERVICES).await;
    world.landscape.provisioner.mood(|mood| mood.busy = 1_000_000);
    let id = world.remove(&made.order, false).await;

    let instance = &made.order.instance_id;
    let again = retrigger(world.engine.storage(), &world.env.store, instance).await.unwrap();

    assert_eq!(again, RetriggerResult::Running(id));
    world.landscape.provisioner.mood(|mood| mood.busy = 0);
    world.end_of(id).await;
    let nobody = retrigger(world.engine.storage(), &world.env.store, "nobody").await.unwrap();
    assert_eq!(nobody, RetriggerResult::Nothing);
}
