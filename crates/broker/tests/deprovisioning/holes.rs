//! Second-order cases of removals: what is forgotten elsewhere, what lies beyond a border, what is left in a parent.

use clients::{
    avs::Trial,
    gardener::{AccountNeed, BindingKind},
};
use serde_json::json;

use crate::{
    furnishing::{FurnishedInstance, FurnishedParts},
    rows::row,
    world::{World, incomplete},
};

const NOTHING: [&str; 0] = [];
const CLUSTER: FurnishedParts = FurnishedParts {
    services: false,
    kyma: false,
    reconciler: false,
    avs: false,
    edp: false,
    ..FurnishedParts::ALL
};

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_the_provisioner_has_forgotten_is_ordered_again_while_the_cluster_is_there()
{
    let world = World::new().await;
    let made = world.made(CLUSTER).await;
    world.landscape.provisioner.mood(|mood| mood.stuck = true);
    let removal = world.remove(&made.order, false).await;
    world.landscape.until(|| world.waits_in(removal, "Check_Runtime_Removal")).await;

    world.landscape.provisioner.forget_operations();
    world.landscape.provisioner.mood(|mood| mood.stuck = false);
    let ended = world.end_of(removal).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert_eq!(
        world.there(&made).await,
        NOTHING,
        "the cluster is gone before its account is given back"
    );
    assert_eq!(world.landscape.provisioner.heard("deprovisionRuntime"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_is_taken_out_of_its_parent_before_it_is_deleted() {
    let world = World::new().await;
    let made = world.made(FurnishedParts { avs: true, cluster: false, ..CLUSTER }).await;

    world.removed(&made).await;

    let all = world.landscape.running.landscape.objects("avs");
    let children = all.iter().filter(|one| one.kind == "parent").map(|one| &one.value["children"]);
    assert!(children.into_iter().all(|children| *children == json!([])), "{all:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_is_taken_out_of_the_parent_that_it_had_before_the_plan_changed() {
    let world = World::with_trial_parent(Trial { access_id: 1, group_id: 2, parent_id: 3 }).await;
    let parts = FurnishedParts { avs: true, cluster: false, ..CLUSTER };
    let ordered = world.next_order("free");
    let mut made = world.landscape.furnish_order(&world.eyes, ordered, parts).await;
    let parents = || {
        let all = world.landscape.running.landscape.objects("avs");
        let parents = all.into_iter().filter(|one| one.kind == "parent");
        parents.map(|one| (one.id, one.value["children"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(parents().len(), 2, "one of the trial, one of the others");
    made.order.plan_name = "aws".into();
    made.order.plan_kind = crate::landscape::catalog().plan_named("aws").unwrap().kind();
    world.env.store.insert(&row(&made.order, Some(&made.details))).await.unwrap();

    let ended = world.removed(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert!(parents().iter().all(|(_, children)| *children == json!([])), "{:?}", parents());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_accounts_only_the_one_on_the_orders_side_of_the_border_is_given_back() {
    let world = World::new().await;
    let order = world.next_order("aws");
    let pool = world.eyes.gardener.pool(BindingKind::Secret);
    let tenant = &order.context.globalaccount_id;
    let mut accounts = Vec::new();
    for eu_access in [false, true] {
        let wanted = AccountNeed { hyperscaler: "aws", eu_access };
        accounts.push(pool.claim(tenant, wanted).await.unwrap().name().to_owned());
    }
    // The answer to the claim was lost: nobody noted which account it is.
    let details = broker::Details::default();
    world.env.store.insert(&row(&order, Some(&details))).await.unwrap();

    world.removed(&FurnishedInstance { order, details }).await;

    let dirty = pool.list("dirty=true").await.unwrap();
    let dirty: Vec<&str> = dirty.iter().map(clients::gardener::Binding::name).collect();
    assert!(dirty.contains(&accounts[0].as_str()), "{dirty:?}");
    assert!(!dirty.contains(&accounts[1].as_str()), "{dirty:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_came_too_late_to_be_used_is_deleted_with_the_instance() {
    let world = World::new().await;
    let made = world.made(FurnishedParts { avs: true, cluster: false, ..CLUSTER }).await;
    let store = &world.env.store;
    let unused =
        crate::furnishing::evaluations(&world.eyes, &made.order).await.internal_id.unwrap();
    let new = store::broker::NewCreation {
        system: "avs",
        name: "K8S-AWS-Kyma-int",
        instance: &made.order.instance_id,
        operation: uuid::Uuid::now_v7(),
    };
    let call = store.begin_creation(new).await.unwrap();
    store.answer_creation(call, &unused.to_string()).await.unwrap();
    let lost = store.begin_creation(new).await.unwrap();

    world.removed(&made).await;

    let listed = store.creations(None, 10).await.unwrap();
    assert_eq!(listed.iter().map(|one| one.id).collect::<Vec<_>>(), [lost]);
    let avs = world.landscape.running.landscape.objects("avs");
    assert!(avs.iter().all(|one| one.id != unused.to_string()), "{avs:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provisioner_that_is_down_leaves_the_cluster_over_by_the_plan_of_the_older_documents() {
    let world = World::legacy().await;
    let made = world.made(crate::legacy::PARTS).await;
    world.landscape.provisioner.mood(|mood| mood.down = true);

    let ended = world.removed(&made).await;
    world.landscape.provisioner.mood(|mood| mood.down = false);
    let listed = world.left_of(&made).await.unwrap();
    let again = world.removed_again(&made).await;

    assert_eq!(incomplete(&ended), NOTHING);
    assert!(listed.left.iter().any(|left| left.what == "the cluster"), "{listed:?}");
    assert!(listed.left.iter().any(|left| left.step == "Release_Subscription"), "{listed:?}");
    assert_eq!(incomplete(&again), NOTHING);
    assert_eq!(world.there(&made).await, NOTHING);
}
