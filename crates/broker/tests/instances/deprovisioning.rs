//! Removals, in every state of an instance.

use broker::instances::{Caller, Deprovision, Error};
use engine::{
    State, Storage,
    storage::{Change, Outcome},
};
use futures::future::join_all;
use serde_json::json;

use crate::world::{StepReport, World, removal, tenant};

pub(crate) async fn an_unknown_instance_is_gone(world: World) {
    for id in ["nobody", "", "a\0b", &"x".repeat(1_000)] {
        assert!(matches!(world.remove(id).await, Err(Error::Gone)), "{id:?}");
    }
    assert_eq!(world.operations().await, 0);
}

pub(crate) async fn a_platform_that_cannot_wait_is_told_so(world: World) {
    world.ordered("i-1").await;
    let caller = Caller::default();
    let ask = |change: fn(&mut Deprovision)| {
        let mut request = removal("i-1");
        change(&mut request);
        world.broker.deprovision(&caller, request)
    };

    let cannot_wait = ask(|request| request.accepts_incomplete = false).await.unwrap_err();
    let no_service = ask(|request| request.service_id.clear()).await.unwrap_err();
    let no_plan = ask(|request| request.plan_id.clear()).await.unwrap_err();

    assert!(matches!(cannot_wait, Error::AsyncRequired));
    assert_eq!(no_service.to_string(), "service_id missing");
    assert_eq!(no_plan.to_string(), "plan_id missing");
    assert_eq!(world.operations().await, 1);
}

pub(crate) async fn a_removal_is_accepted_once_and_answered_again(world: World) {
    world.made("i-1").await;

    let first = world.remove("i-1").await.unwrap();
    let again = world.remove("i-1").await.unwrap();

    assert_eq!(again, first);
    assert_eq!(world.read(&first).await.kind, "deprovision");
    assert_eq!(world.operations().await, 2);
}

pub(crate) async fn a_removal_stops_a_running_order(world: World) {
    let order = world.ordered("i-1").await;

    let removal = world.remove("i-1").await.unwrap();

    let stopped = world.read(&order).await.cancel.unwrap();
    let waiting = world.read(&removal).await;
    assert_eq!(stopped.state, State::Failed);
    assert_eq!(stopped.reason, format!("operation preempted by deprovisioning {removal}"));
    assert_eq!((waiting.state, waiting.due_at), (State::Pending, None));

    world.end(&order, State::Failed, vec![]).await;
    assert!(world.read(&removal).await.due_at.is_some());
}

pub(crate) async fn what_was_not_completed_is_gone_on_with(world: World) {
    world.made("i-1").await;
    let first = world.remove("i-1").await.unwrap();
    world.end_incomplete(&first, "work/Check_Runtime").await;

    let second = world.remove("i-1").await.unwrap();
    let again = world.remove("i-1").await.unwrap();

    assert_ne!(second, first);
    assert_eq!(again, second);
    assert_eq!(world.read(&second).await.root, first.uuid());
}

pub(crate) async fn what_a_removal_has_left_is_gone_on_with(world: World) {
    world.made("i-1").await;
    let first = world.remove("i-1").await.unwrap();
    let marked = Change { topic: "instance".into(), body: json!({ "deleted": true }) };
    let left = json!({ "left": ["Release_Subscription"] });
    world.end_knowing(&first, &left, vec![marked]).await;

    let second = world.remove("i-1").await.unwrap();

    assert_ne!(second, first);
    assert_eq!(world.read(&second).await.root, first.uuid());
}

pub(crate) async fn another_tenants_instance_is_not_there(world: World) {
    world.made("i-1").await;

    let foreign = world.broker.deprovision(&tenant("ga-2"), removal("i-1")).await;
    let own = world.broker.deprovision(&tenant("ga-1"), removal("i-1")).await;

    assert!(matches!(foreign, Err(Error::Gone)));
    assert!(own.is_ok());
}

pub(crate) async fn of_twenty_removals_at_once_one_operation_answers_all(world: World) {
    world.made("i-1").await;

    let answers = join_all((0..20).map(|_| world.remove("i-1"))).await;

    let first = answers[0].as_ref().unwrap();
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap() == first));
    assert_eq!(world.operations().await, 2);
}

pub(crate) async fn a_removal_that_is_being_called_off_is_begun_anew(world: World) {
    world.made("i-1").await;
    let first = world.remove("i-1").await.unwrap();
    let waits = StepReport {
        step: "Check_Runtime",
        outcome: Outcome::Wait,
        note: Some("waiting for the cluster"),
    };
    world.say(&first, &waits).await;
    let cancel = engine::storage::Cancel { state: State::Canceled, reason: "called off".into() };
    world.engine.request_cancel(first.uuid(), &cancel).await.unwrap();

    let second = world.remove("i-1").await.unwrap();

    assert_ne!(second, first);
}
