//! The legacy plan, end to end.

use clients::azure::Azure;
use simulators::trouble::Kind;

use crate::{
    furnishing::{FurnishedInstance, FurnishedParts},
    rows::row,
    world::{World, incomplete},
};

const NOTHING: [&str; 0] = [];
/// The legacy plans call neither the Lifecycle Manager nor the Reconciler.
pub(crate) const PARTS: FurnishedParts =
    FurnishedParts { services: false, kyma: false, reconciler: false, ..FurnishedParts::ALL };

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_goes_with_everything_by_the_plan_of_the_older_documents() {
    let world = World::legacy().await;
    let made = world.made(PARTS).await;

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_never_had_a_cluster_goes_too() {
    let world = World::legacy().await;
    let made = world.made(FurnishedParts { cluster: false, ..PARTS }).await;

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_removed_is_left_over_and_tried_again() {
    let world = World::legacy().await;
    let made = world.made(PARTS).await;
    world.landscape.down("edp");

    let ended = world.removed(&made).await;
    world.landscape.calm();
    let kept = world.there(&made).await;
    let again = world.removed_again(&made).await;

    assert_eq!(incomplete(&ended), ["EDP_Deregistration"]);
    assert_eq!(kept, ["data tenant", "row, marked"]);
    assert_eq!(incomplete(&again), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_cannot_be_given_back_does_not_fail_the_removal() {
    let world = World::legacy().await;
    let made = world.made(PARTS).await;
    let denied = Kind::Status { status: 403, body: None };
    world.landscape.trouble("gardener", "PUT", 1_000_000, denied);

    let ended = world.removed(&made).await;
    world.landscape.calm();
    let kept = world.there(&made).await;
    let listed = world.left_of(&made).await.unwrap();
    let again = world.removed_again(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(kept, ["account", "row, marked"]);
    assert_eq!(listed.left.len(), 1, "{listed:?}");
    assert_eq!(incomplete(&again), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 1);
}

/// An instance on Azure with nothing but event hubs.
async fn with_event_hubs(world: &World) -> (FurnishedInstance, Azure) {
    let order = world.next_order("azure");
    let (account, azure) = world.landscape.furnish_event_hubs(&world.eyes, &order).await;
    let details = broker::Details { target_secret: Some(account), ..broker::Details::default() };
    world.env.store.insert(&row(&order, Some(&details))).await.unwrap();
    (FurnishedInstance { order, details }, azure)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_resource_group_with_the_event_hubs_is_deleted() {
    let world = World::legacy().await;
    let (made, azure) = with_event_hubs(&world).await;
    world.landscape.trouble("azure", "DELETE", 1, Kind::LostAnswer { status: None });

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(azure.groups().await.unwrap(), []);
    assert_eq!(world.there(&made).await, NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_azure_that_is_down_keeps_the_row_until_it_is_back() {
    let world = World::legacy().await;
    let (made, azure) = with_event_hubs(&world).await;
    world.landscape.down("azure");

    let ended = world.removed(&made).await;
    world.landscape.calm();
    let listed = world.left_of(&made).await.unwrap();
    let again = world.removed_again(&made).await;

    assert_eq!(incomplete(&ended), ["Deprovision Azure Event Hubs"]);
    assert_eq!(listed.left[0].what, "the resource group with the event hubs");
    assert_eq!(incomplete(&again), NOTHING);
    assert_eq!(azure.groups().await.unwrap(), []);
    assert_eq!(world.there(&made).await, NOTHING);
}
