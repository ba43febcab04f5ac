//! Orders and changes that are only checked: the answers of the requests themselves, and nothing is stored.

use broker::instances::{Caller, Effect, Error, Provision};
use engine::State;
use serde_json::json;

use crate::{
    updating::change,
    world::{AWS, TRIAL, World, context, request},
};

pub(crate) async fn an_order_that_is_checked_is_not_stored(world: World) {
    let caller = Caller::default();
    let check = async |request: Provision| world.broker.check_order(&caller, &request).await;

    let runtime = check(request("i-1", AWS)).await.unwrap();
    let cluster = runtime.cluster.expect("a cluster to create");
    assert_eq!((cluster.provider.as_str(), cluster.region.as_str()), ("aws", "eu-central-1"));
    assert!(!cluster.kubernetes_version.is_empty(), "defaults are filled in");
    check(request("i-1", TRIAL)).await.unwrap();
    assert_eq!(world.operations().await, 0);
    assert!(world.store.find("i-1").await.unwrap().is_none());

    // What it found free is free for the order.
    let first = world.broker.provision(&caller, request("i-1", TRIAL)).await.unwrap();
    check(request("i-1", TRIAL)).await.unwrap();
    let elsewhere = Provision { context: Some(context("ga-2")), ..request("i-3", TRIAL) };
    check(elsewhere).await.unwrap();
    for (request, problem) in [
        (request("i-1", AWS), "provisioning operation already exist"),
        (
            request("i-2", TRIAL),
            "trial Kyma was created for the global account, but there is only one allowed",
        ),
    ] {
        let refused = check(request).await.unwrap_err();
        assert_eq!(refused.to_string(), problem);
    }
    world.end(&first.operation.unwrap(), State::Succeeded, vec![]).await;
    let removal = world.remove("i-1").await.unwrap();
    let refused = check(request("i-1", TRIAL)).await.unwrap_err();
    assert!(matches!(refused, Error::Busy), "{refused}");
    assert_eq!(world.operations().await, 2, "{removal} and the order");
}

pub(crate) async fn a_change_that_is_checked_changes_nothing(world: World) {
    let caller = Caller::default();
    world.made("i-1").await;
    let before = world.store.find("i-1").await.unwrap().unwrap();
    let mut wider = change("i-1");
    wider.parameters = Some(json!({"autoScalerMax": 7}));
    let mut stored = change("i-1");
    stored.context = Some(json!({"origin": "cockpit"}));

    assert_eq!(world.broker.check_change(&caller, &wider).await.unwrap(), Effect::Runtime);
    assert_eq!(world.broker.check_change(&caller, &stored).await.unwrap(), Effect::Stored);
    let mut wrong = change("i-1");
    wrong.parameters = Some(json!({"autoScalerMax": "many"}));
    let refused = world.broker.check_change(&caller, &wrong).await.unwrap_err().to_string();
    let also = world.broker.update(&caller, wrong).await.unwrap_err().to_string();
    assert_eq!(refused, also);
    let missing = world.broker.check_change(&caller, &change("i-9")).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound(_)), "{missing}");
    // The plan is never suspended.
    let mut pause = change("i-1");
    pause.context = Some(json!({"active": false}));
    assert_eq!(world.broker.check_change(&caller, &pause).await.unwrap(), Effect::Stored);

    let after = world.store.find("i-1").await.unwrap().unwrap();
    assert_eq!((after.order, after.revision), (before.order, before.revision));
    assert_eq!(world.operations().await, 1);
}

pub(crate) async fn a_suspension_that_is_checked_does_not_begin(world: World) {
    let caller = Caller::default();
    world.trial("i-1").await;
    let mut pause = change("i-1");
    pause.plan_id.clear();
    pause.context = Some(json!({"active": false}));

    assert_eq!(world.broker.check_change(&caller, &pause).await.unwrap(), Effect::Activity);
    assert_eq!(world.operations().await, 1);
    world.broker.update(&caller, pause.clone()).await.unwrap();

    let mut resume = pause.clone();
    resume.context = Some(json!({"active": true}));
    assert_eq!(world.broker.check_change(&caller, &resume).await.unwrap(), Effect::Activity);
    assert_eq!(world.operations().await, 2);
}
