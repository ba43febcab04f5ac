//! A runtime whose global account has changed: every call of the new owner works to its end.

use broker::instances::{Caller, Deprovision, Error, Update};
use engine::State;
use serde_json::json;

use super::{BoundRuntime, anybody, opens};
use crate::{
    suspension::{settled, use_cases},
    updating::trying::shoot,
    upgrading::cluster,
    view::View,
};

const NEW: &str = "ga-moved";

#[tokio::test(flavor = "multi_thread")]
async fn after_an_account_move_every_call_of_the_new_owner_reaches_the_runtime() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let (outside, broker, order) = (&runtime.outside, &runtime.broker, &runtime.order);
    let (cases, id) = (use_cases(outside, broker), &order.instance_id);
    outside.introduce(NEW);
    let of = |tenant: &str| Caller { tenant: Some(tenant.into()), ..Caller::default() };
    let (owner, before) = (of(NEW), of(&order.context.globalaccount_id));
    let change = Update {
        instance_id: id.clone(),
        service_id: order.service_id.clone(),
        plan_id: order.plan_id.clone(),
        accepts_incomplete: true,
        ..Update::default()
    };
    let context = Some(json!({"globalaccount_id": NEW}));
    let moved = cases.update(&anybody(), Update { context, ..change.clone() }).await.unwrap();
    assert_eq!(moved.operation, None);

    // Reads, credentials and a binding: for the new owner, and no longer for the one before.
    assert!(cases.find(&owner, id).await.is_ok());
    assert!(cases.last_operation(&owner, id, None).await.is_ok());
    assert!(runtime.bindings.kubeconfig(&owner, id).await.is_ok());
    let bound = runtime.bindings.bind(&owner, runtime.request("moved")).await.unwrap();
    opens(&bound.kubeconfig).await.unwrap();
    let refused = runtime.bindings.kubeconfig(&before, id).await.unwrap_err();
    assert!(matches!(refused, Error::NotFound(_)), "{refused}");

    // A change and an upgrade of the cluster, which the provisioner carries out.
    let parameters = Some(json!({"autoScalerMax": 9}));
    let changed = cases.update(&owner, Update { parameters, ..change }).await.unwrap();
    let ended = broker.end_of(changed.operation.unwrap().uuid()).await;
    assert_eq!(ended.state, State::Succeeded, "{ended:?}");
    assert_eq!(shoot(outside, &order.shoot_name)[2], json!(9));
    let stored = serde_json::from_slice(&runtime.instance().await.order).unwrap();
    Box::pin(broker.upgrade_cluster(cluster(stored))).await.completed();
    broker.end_maintenance().await;

    // Suspension, return and removal.
    cases.suspend(&owner, id).await.unwrap();
    settled(outside, broker, order).await;
    assert_eq!(runtime.instance().await.runtime_id, None);
    cases.unsuspend(&owner, id).await.unwrap().unwrap();
    settled(outside, broker, order).await;
    assert!(runtime.instance().await.runtime_id.is_some());
    let removal = Deprovision {
        instance_id: id.clone(),
        service_id: order.service_id.clone(),
        plan_id: order.plan_id.clone(),
        accepts_incomplete: true,
    };
    let removal = cases.deprovision(&owner, removal).await.unwrap();
    assert_eq!(broker.end_of(removal.uuid()).await.state, State::Succeeded);
    let left = View::of(outside, &broker.store, order).left().await;
    assert!(left.is_empty(), "{left:?}");
}
