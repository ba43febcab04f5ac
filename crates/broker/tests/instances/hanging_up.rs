//! Changes whose client hangs up at any await, and changes that meet others at any await: what belongs together is stored together.

use std::{future::poll_fn, pin::Pin, task::Poll, time::Duration};

use broker::{
    Order,
    instances::{Caller, Error, Update},
};
use engine::State;
use serde_json::json;

use crate::{
    updating::change,
    world::{AWS, FREE, TRIAL, World, context, removal, request},
};

/// More awaits than a change has.
pub(crate) const AWAITS: usize = 40;
/// How long another request has for itself. One that waits for a transaction of the first is let in when that goes on.
const AHEAD: Duration = Duration::from_millis(200);

/// Polls a future so often.
async fn polled<F: Future + Unpin>(future: &mut F, times: usize) -> Option<F::Output> {
    let mut left = times;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        Pin::new(&mut *future).poll(cx).map(Some)
    })
    .await
}

/// Lets a request begin, another one come in between as far as it can, and gives the first one's answer.
pub(crate) async fn overtaken<F: Future, G: Future>(
    first: F,
    polls: usize,
    other: G,
) -> (F::Output, G::Output) {
    let (mut first, mut other) = (Box::pin(first), Box::pin(other));
    if let Some(answer) = polled(&mut first, polls).await {
        return (answer, other.await);
    }
    match tokio::time::timeout(AHEAD, &mut other).await {
        Ok(ended) => (first.await, ended),
        Err(_) => tokio::join!(first, other),
    }
}

impl World {
    async fn stored(&self, instance: &str) -> (String, Order) {
        let row = self.store.find(instance).await.unwrap().unwrap();
        (row.global_account, serde_json::from_slice(&row.order).unwrap())
    }

    async fn newest_of(&self, instance: &str, kind: &str) -> Option<uuid::Uuid> {
        self.store.last_operation(instance, Some(&[kind])).await.unwrap()
    }

    /// An instance of this plan, and of an account of its own, that was made.
    pub(crate) async fn made_of(&self, instance: &str, plan: &str) {
        let mut order = request(instance, plan);
        order.context = Some(context(instance));
        if plan == FREE {
            order.parameters = Some(json!({"name": "dev", "region": "eu-central-1"}));
        }
        let broker = self.with_plan_changes();
        let made = broker.provision(&Caller::default(), order).await.unwrap().operation.unwrap();
        self.end(&made, State::Succeeded, vec![]).await;
    }
}

pub(crate) async fn a_change_that_is_dropped_at_any_await_lands_with_its_account_or_not_at_all(
    world: World,
) {
    let caller = Caller::default();
    for polls in 0..AWAITS {
        let instance = format!("i-{polls}");
        world.made_of(&instance, AWS).await;
        let request = Update {
            context: Some(json!({"globalaccount_id": "ga-new", "active": true})),
            parameters: Some(json!({"autoScalerMax": 9})),
            ..change(&instance)
        };

        polled(&mut Box::pin(world.broker.update(&caller, request.clone())), polls).await;

        let begun = world.newest_of(&instance, "update").await;
        let (account, order) = world.stored(&instance).await;
        if begun.is_some() {
            assert_eq!((account.as_str(), order.context.active), ("ga-new", Some(true)), "{polls}");
        }
        let again = world.broker.update(&caller, request).await.unwrap().operation.unwrap();
        let (account, order) = world.stored(&instance).await;
        assert_eq!((account.as_str(), order.paying_account()), ("ga-new", instance.as_str()));
        assert!(begun.is_none_or(|begun| begun == again.uuid()), "one change, one operation");
        let all = world.engine.of_instances(&[&instance]).await.unwrap();
        assert_eq!(all.len(), 2, "{polls}: {all:?}");
    }
}

pub(crate) async fn a_suspension_that_is_dropped_at_any_await_lands_with_its_context_or_not_at_all(
    world: World,
) {
    let caller = Caller::default();
    for polls in 0..AWAITS {
        let instance = format!("i-{polls}");
        world.made_of(&instance, TRIAL).await;
        let request = Update {
            plan_id: String::new(),
            context: Some(json!({"active": false, "license_type": "CUSTOMER"})),
            ..change(&instance)
        };

        polled(&mut Box::pin(world.broker.update(&caller, request.clone())), polls).await;

        let inactive = world.stored(&instance).await.1.context.active == Some(false);
        let begun = world.newest_of(&instance, "deprovision").await;
        assert!(begun.is_some() || !inactive, "{polls}: it is said to be suspended, and is not");
        let inactive = world.stored(&instance).await.1.context.active == Some(false);
        assert!(inactive || begun.is_none(), "{polls}: it is suspended, and not said to be");
        world.broker.update(&caller, request).await.unwrap();
        let (_, order) = world.stored(&instance).await;
        assert_eq!(order.context.license_type.as_deref(), Some("CUSTOMER"));
        let all = world.engine.of_instances(&[&instance]).await.unwrap();
        assert_eq!(all.len(), 2, "{polls}: {all:?}");
    }
}

pub(crate) async fn nothing_of_a_suspension_is_stored_that_a_removal_has_overtaken(world: World) {
    let caller = Caller::default();
    let mut refused = 0;
    for polls in 0..AWAITS {
        let instance = format!("i-{polls}");
        world.made_of(&instance, TRIAL).await;
        let request = Update {
            plan_id: String::new(),
            context: Some(json!({"active": false, "origin": "lost"})),
            ..change(&instance)
        };
        let removal = removal(&instance);

        let suspended = world.broker.update(&caller, request);
        let removed = world.broker.deprovision(&caller, removal);
        let (suspended, removed) = Box::pin(overtaken(suspended, polls, removed)).await;

        removed.unwrap();
        let (_, order) = world.stored(&instance).await;
        let said = (order.context.active, order.context.origin.as_deref());
        match suspended {
            Ok(_) => assert_eq!(said, (Some(false), Some("lost")), "{polls}"),
            Err(_) => assert_eq!(said, (None, None), "{polls}"),
        }
        refused += usize::from(suspended.is_err());
    }
    assert!(refused > 0, "the removal has never come first");
}

pub(crate) async fn of_two_changes_at_once_the_later_one_is_judged_behind_the_plan_of_the_first(
    world: World,
) {
    let (broker, caller) = (world.with_plan_changes(), Caller::default());
    let mut refused = 0;
    for polls in 0..AWAITS {
        let instance = format!("i-{polls}");
        world.made_of(&instance, FREE).await;
        let stays = Update {
            plan_id: FREE.into(),
            context: None,
            parameters: Some(json!({"administrators": ["a@b.test"]})),
            ..change(&instance)
        };
        let moves = Update { plan_id: AWS.into(), context: None, ..change(&instance) };

        let stayed = broker.update(&caller, stays);
        let moved = broker.update(&caller, moves);
        let (stayed, moved) = Box::pin(overtaken(stayed, polls, moved)).await;

        moved.unwrap();
        match stayed {
            Ok(stayed) => {
                let stayed = world.read(&stayed.operation.unwrap()).await;
                assert!(stayed.due_at.is_some(), "{polls}: accepted behind the other plan");
            }
            Err(error) => {
                refused += 1;
                assert!(matches!(error, Error::Busy), "{polls}: {error}");
            }
        }
    }
    assert!(refused > 0, "the change of the plan has never come first");
}

pub(crate) async fn behind_a_change_of_the_plan_everything_is_judged_by_the_next_plan(
    world: World,
) {
    let (broker, caller) = (world.with_plan_changes(), Caller::default());
    world.made_of("i-1", FREE).await;
    let to = |plan: &str| Update { plan_id: plan.into(), context: None, ..change("i-1") };
    // Plan free offers no machine types.
    let machine = || Update { parameters: Some(json!({"machineType": "m5.2xlarge"})), ..to("") };
    assert!(matches!(broker.update(&caller, machine()).await, Err(Error::Refused(_))));

    let first = broker.update(&caller, to(AWS)).await.unwrap().operation.unwrap();
    let again = broker.update(&caller, to(AWS)).await.unwrap().operation.unwrap();
    let back = broker.update(&caller, to(FREE)).await.unwrap_err();
    let behind = broker.update(&caller, machine()).await.unwrap().operation.unwrap();

    assert_eq!(again, first);
    assert!(matches!(back, Error::Busy), "{back}");
    assert_eq!(world.read(&behind).await.due_at, None);
    // It does not come to the other plan: everything is as it was.
    world.fail(&first, "no").await;
    world.fail(&behind, "no").await;
    assert!(matches!(broker.update(&caller, machine()).await, Err(Error::Refused(_))));
    assert_ne!(broker.update(&caller, to(AWS)).await.unwrap().operation.unwrap(), first);
}
