//! Shoots that have the name of an instance's cluster, whose id was never learnt, and may be another one's.

use broker::{Details, Order};
use serde_json::{Value, json};
use store::broker::{ImportOutcome, ImportedInstance};
use uuid::Uuid;

use crate::{
    furnishing::{FurnishedInstance, FurnishedParts},
    rows::row,
    world::{World, incomplete},
};

const NOTHING: [&str; 0] = [];
const CLUSTER: FurnishedParts = FurnishedParts {
    account: false,
    avs: false,
    edp: false,
    services: false,
    kyma: false,
    reconciler: false,
    ..FurnishedParts::ALL
};

impl World {
    /// A cluster that was made for an order.
    async fn cluster_of(&self, order: &Order) -> FurnishedInstance {
        Box::pin(self.landscape.furnish_order(&self.eyes, order.clone(), CLUSTER)).await
    }

    /// An instance that does not know its cluster.
    async fn knows_nothing(&self, order: &Order) -> FurnishedInstance {
        self.env.store.insert(&row(order, Some(&Details::default()))).await.unwrap();
        FurnishedInstance { order: order.clone(), details: Details::default() }
    }

    /// The row of an instance names its runtime.
    async fn owns(&self, order: &Order, runtime: Option<Uuid>) {
        let now = self.landscape.clock.now();
        let row = ImportedInstance {
            instance: row(order, Some(&Details::default())),
            runtime_id: runtime,
            digest: Vec::new(),
            created_at: now,
            updated_at: now,
            deleted_at: None,
            expired_at: None,
            operations: Vec::new(),
            states: Vec::new(),
            bindings: Vec::new(),
        };
        let outcome = self.env.store.import(&[row]).await.unwrap();
        assert!(matches!(outcome[..], [ImportOutcome::Stored]), "{outcome:?}");
    }
}

/// Another order, whose cluster has the same name.
fn namesake(order: &Order, mut other: Order) -> Order {
    other.shoot_name.clone_from(&order.shoot_name);
    other.context.globalaccount_id.clone_from(&order.context.globalaccount_id);
    other
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cluster_of_another_subaccount_is_left_alone_and_the_removal_ends() {
    let world = World::new().await;
    let order = world.next_order("aws");
    let other = world.cluster_of(&namesake(&order, world.next_order("aws"))).await;
    let made = world.knows_nothing(&order).await;

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&other).await, ["cluster"]);
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 0);
    assert!(world.env.store.find(&order.instance_id).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cluster_of_another_instance_is_left_alone_and_the_removal_ends() {
    let world = World::new().await;
    let order = world.next_order("aws");
    let mut other = namesake(&order, world.next_order("aws"));
    other.context = order.context.clone();
    let other = world.cluster_of(&other).await;
    world.owns(&other.order, other.details.runtime_id).await;
    let made = world.knows_nothing(&order).await;

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&other).await, ["cluster", "row"]);
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_the_row_of_the_instance_names_is_removed() {
    let world = World::new().await;
    let made = world.cluster_of(&world.next_order("aws")).await;
    world.owns(&made.order, made.details.runtime_id).await;

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_of_which_nobody_can_tell_is_neither_removed_nor_forgotten() {
    let annotation = clients::gardener::RUNTIME_ANNOTATION;
    let unmarked: [Value; 3] = [
        json!({"labels": {"subaccount": null}}),
        json!({"labels": {"subaccount": ""}}),
        json!({"annotations": {annotation: null}}),
    ];
    let world = World::new().await;

    for change in unmarked {
        let order = world.next_order("aws");
        let cluster = world.cluster_of(&order).await;
        let name = &order.shoot_name;
        world.eyes.gardener.merge(name, &json!({"metadata": change})).await.unwrap();
        let made = world.knows_nothing(&order).await;

        let ended = world.removed(&made).await;

        let left =
            ["Remove_Runtime", "Check_Runtime_Removal", "Release_Subscription", "Remove_Instance"];
        assert_eq!(incomplete(&ended), left, "{change}");
        assert_eq!(world.there(&cluster).await, ["cluster", "row, marked"], "{change}");
    }
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 0);
}
