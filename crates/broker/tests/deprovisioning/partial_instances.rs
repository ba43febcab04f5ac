//! Instances that were only half made, and instances that others share something with.

use std::time::Duration;

use broker::{Details, Order};
use engine::Storage;

use crate::{
    furnishing::{FurnishedInstance, FurnishedParts},
    rows::row,
    world::{World, incomplete},
};

const NOTHING: [&str; 0] = [];

/// Every part with and without every other; what is in a cluster needs one.
fn subsets() -> Vec<FurnishedParts> {
    let bit = |number: u32, at: u32| number & (1 << at) != 0;
    let all = (0..1 << 6).map(|number| FurnishedParts {
        account: bit(number, 0),
        avs: bit(number, 1),
        edp: bit(number, 2),
        cluster: bit(number, 3),
        kyma: bit(number, 4),
        reconciler: bit(number, 5),
        services: false,
    });
    all.filter(|parts| parts.cluster || !(parts.kyma || parts.reconciler)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_create_has_made_so_far_is_gone_in_the_end() {
    let world = World::new().await;

    for parts in subsets() {
        let made = world.made(parts).await;
        let ended = world.removed(&made).await;

        assert_eq!(incomplete(&ended), NOTHING, "{parts:?}");
        assert_eq!(world.there(&made).await, NOTHING, "{parts:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_whose_id_was_never_learnt_is_found_by_its_name() {
    let world = World::new().await;
    let parts =
        FurnishedParts { services: false, kyma: false, reconciler: false, ..FurnishedParts::ALL };
    let order = world.next_order("aws");
    let made = world.landscape.furnish_order(&world.eyes, order, parts).await;
    let known = Details { runtime_id: None, target_secret: None, ..made.details.clone() };
    world.env.store.insert(&row(&made.order, Some(&known))).await.unwrap();

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_comes_about_while_its_order_is_under_way_is_removed_too() {
    let world = World::new().await;
    let order = world.next_order("aws");
    let parts =
        FurnishedParts { services: false, kyma: false, reconciler: false, ..FurnishedParts::ALL };
    let without = FurnishedParts { cluster: false, ..parts };
    let mut made = world.landscape.furnish_order(&world.eyes, order.clone(), without).await;
    made.details.runtime_ordered_at = Some(world.landscape.clock.now());
    world.env.store.insert(&row(&made.order, Some(&made.details))).await.unwrap();

    let removal = world.remove(&made.order, false).await;
    world.landscape.until(|| async { world.waits_in(removal, "Remove_Runtime").await }).await;
    let only_cluster = FurnishedParts { account: false, avs: false, edp: false, ..parts };
    world.landscape.furnish_order(&world.eyes, order, only_cluster).await;
    let ended = world.end_of(removal).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_left_long_ago_is_not_waited_for() {
    let world = World::new().await;
    let parts = FurnishedParts { cluster: false, ..FurnishedParts::ALL };
    let order = world.next_order("aws");
    let mut made = world.landscape.furnish_order(&world.eyes, order, parts).await;
    made.details.runtime_ordered_at = Some(world.landscape.clock.now() - Duration::from_mins(4));
    world.env.store.insert(&row(&made.order, Some(&made.details))).await.unwrap();

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_still_being_made_has_nothing_inside_to_wait_for() {
    let world = World::new().await;
    let made = world.made(FurnishedParts { services: false, ..FurnishedParts::ALL }).await;
    world.landscape.provisioner.is_still_making(&made.details.runtime_id.unwrap().to_string());
    world.landscape.provisioner.mood(|mood| mood.busy = 3);

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_is_gone_is_removed_at_once() {
    let world = World::new().await;
    let order = world.next_order("aws");

    let id = world.remove(&order, false).await;
    let ended = world.end_of(id).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.steps_of(id).await.len(), 1, "nothing but the first step ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_sleeps_keeps_its_row_and_its_account() {
    let world = World::new().await;
    let made = world.made(FurnishedParts { services: false, ..FurnishedParts::ALL }).await;

    let id = world.remove(&made.order, true).await;
    let ended = world.end_of(id).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, ["account", "row"]);
    let row = world.env.store.find(&made.order.instance_id).await.unwrap().unwrap();
    let kept: Details = serde_json::from_slice(&row.details).unwrap();
    assert_eq!(row.runtime_id, None);
    assert_eq!(kept.runtime_id, None);
    assert_eq!(kept.kyma_name, made.details.kyma_name, "the next cluster is called the same");
    assert!(!kept.edp_created && kept.avs == broker::details::Avs::default());
}

/// The same order for the account and subaccount of another one.
fn beside(other: &Order, mut order: Order) -> Order {
    order.context = other.context.clone();
    order
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_neighbour_needs_is_kept_until_the_last_one_goes() {
    let world = World::new().await;
    let parts = FurnishedParts {
        services: false,
        kyma: false,
        reconciler: false,
        avs: false,
        ..FurnishedParts::ALL
    };
    let one = world.made(parts).await;
    let other = world.made_of(beside(&one.order, world.next_order("aws")), parts).await;

    let first = world.removed(&one).await;
    let kept = world.there(&one).await;
    let second = world.removed(&other).await;

    assert_eq!(incomplete(&first), NOTHING);
    assert_eq!(kept, ["data tenant", "account"]);
    assert_eq!(incomplete(&second), NOTHING);
    assert_eq!(world.there(&other).await, NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn neighbours_that_go_at_the_same_time_do_not_leave_the_work_to_each_other() {
    let world = World::new().await;
    let parts = FurnishedParts {
        services: false,
        kyma: false,
        reconciler: false,
        avs: false,
        ..FurnishedParts::ALL
    };
    let mut made: Vec<FurnishedInstance> = vec![world.made(parts).await];
    for _ in 0..4 {
        let order = beside(&made[0].order, world.next_order("aws"));
        made.push(world.made_of(order, parts).await);
    }

    let mut begun = Vec::new();
    for one in &made {
        begun.push(world.remove(&one.order, false).await);
    }
    for id in begun {
        world.end_of(id).await;
    }

    for one in &made {
        assert_eq!(world.there(one).await, NOTHING);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stopped_create_knew_and_the_row_does_not_is_removed_too() {
    let world = World::new().await;
    let order = world.next_order("aws");
    let parts = FurnishedParts { services: false, ..FurnishedParts::ALL };
    let made = world.landscape.furnish_order(&world.eyes, order, parts).await;
    world.env.store.insert(&row(&made.order, None)).await.unwrap();
    let create = world.create(&made).await;

    let removal = world.remove_instead_of(&made.order, create).await;
    let ended = world.end_of(removal).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
    let create = world.engine.storage().read(create).await.unwrap().unwrap();
    assert_eq!(create.state, engine::State::Failed);
}
