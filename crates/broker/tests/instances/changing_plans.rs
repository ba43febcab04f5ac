//! What else is asked for while the plan of an instance changes.

use broker::instances::{Broker, Caller, Error, Update};
use domain::OperationId;
use engine::{State, storage::Change};
use serde_json::json;

use crate::{
    hanging_up::{AWAITS, overtaken},
    updating::change,
    world::{AWS, FREE, World},
};

fn to(plan: &str, instance: &str) -> Update {
    Update { plan_id: plan.into(), context: None, ..change(instance) }
}

async fn changes_plan(broker: &Broker, instance: &str) -> OperationId {
    let answer = broker.update(&Caller::default(), to(AWS, instance)).await;
    answer.unwrap().operation.unwrap()
}

impl World {
    /// Ends the change of an instance's plan well.
    async fn end_plan_change(&self, change: &OperationId) {
        let plan = json!({"plan": {"id": AWS, "name": "aws"}});
        let stored = Change { topic: "instance".into(), body: plan };
        self.end(change, State::Succeeded, vec![stored]).await;
    }

    async fn is_expired(&self, instance: &str) -> bool {
        self.store.find(instance).await.unwrap().unwrap().expired_at.is_some()
    }
}

pub(crate) async fn an_instance_does_not_expire_while_its_plan_changes(world: World) {
    let (broker, caller) = (world.with_plan_changes(), Caller::default());
    world.made_of("i-1", FREE).await;
    world.made_of("i-2", FREE).await;
    let succeeds = changes_plan(&broker, "i-1").await;
    let fails = changes_plan(&broker, "i-2").await;
    let by_parameters = Update {
        plan_id: String::new(),
        context: Some(json!({"active": false})),
        parameters: Some(json!({"expired": true})),
        ..change("i-1")
    };

    let refused = [
        broker.expire(&caller, "i-1").await.map(drop),
        broker.expire(&caller, "i-2").await.map(drop),
        broker.update(&caller, by_parameters).await.map(drop),
        broker.suspend(&caller, "i-1").await.map(drop),
    ];

    assert!(refused.iter().all(|it| matches!(it, Err(Error::Busy))), "{refused:?}");
    assert!(!world.is_expired("i-1").await && !world.is_expired("i-2").await);
    assert_eq!((world.active("i-1").await, world.operations().await), (None, 4));
    world.end_plan_change(&succeeds).await;
    let of_aws = broker.expire(&caller, "i-1").await.unwrap_err();
    assert_eq!(of_aws.to_string(), "unsupported plan: aws");
    world.fail(&fails, "no").await;
    broker.expire(&caller, "i-2").await.unwrap();
    assert!(!world.is_expired("i-1").await && world.is_expired("i-2").await);
}

pub(crate) async fn nothing_expires_whose_plan_has_changed_since_it_was_looked_at(world: World) {
    let (broker, caller) = (world.with_plan_changes(), Caller::default());
    let mut changed_before = 0;
    for polls in 0..AWAITS {
        let instance = format!("i-{polls}");
        world.made_of(&instance, FREE).await;
        let change = changes_plan(&broker, &instance).await;

        let expiry = broker.expire(&caller, &instance);
        let ends = world.end_plan_change(&change);
        let (expired, ()) = Box::pin(overtaken(expiry, polls, ends)).await;

        match expired {
            Err(Error::Busy) => {}
            Err(Error::Bad(_)) => changed_before += 1,
            other => panic!("{polls}: {other:?}"),
        }
        assert!(!world.is_expired(&instance).await, "{polls}");
    }
    assert!(changed_before > 0, "the change of the plan has never ended first");
}

pub(crate) async fn nothing_is_suspended_whose_plan_has_changed_since_it_was_looked_at(
    world: World,
) {
    let caller = Caller::default();
    let broker = world.with_plan_changes_and_suspended(&["free"]);
    let (mut refused, mut changed_before) = (0, 0);
    for polls in 0..AWAITS {
        let instance = format!("i-{polls}");
        world.made_of(&instance, FREE).await;
        let plan_change = changes_plan(&broker, &instance).await;
        let context = Some(json!({"active": false}));
        let request = Update { plan_id: String::new(), context, ..change(&instance) };

        let suspension = broker.update(&caller, request);
        let ends = world.end_plan_change(&plan_change);
        let (suspended, ()) = Box::pin(overtaken(suspension, polls, ends)).await;

        match suspended {
            Err(Error::Busy) => refused += 1,
            Ok(_) => changed_before += 1,
            other => panic!("{polls}: {other:?}"),
        }
        let removal = world.store.last_operation(&instance, Some(&["deprovision"])).await;
        assert_eq!(removal.unwrap(), None, "{polls}");
    }
    assert!(refused > 0 && changed_before > 0, "{refused} {changed_before}");
}

pub(crate) async fn the_plan_that_the_platform_knows_is_refused_until_its_change_has_ended(
    world: World,
) {
    let (broker, caller) = (world.with_plan_changes(), Caller::default());
    world.made_of("i-1", FREE).await;
    let values = |plan: &str| {
        let parameters = Some(json!({"administrators": ["a@b.test"]}));
        Update { parameters, ..to(plan, "i-1") }
    };
    let change = changes_plan(&broker, "i-1").await;

    let meanwhile = broker.update(&caller, values(FREE)).await;

    assert!(matches!(meanwhile, Err(Error::Busy)), "{meanwhile:?}");
    world.fail(&change, "no").await;
    assert!(broker.update(&caller, values(FREE)).await.is_ok());
}
