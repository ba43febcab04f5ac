//! Suspension, return and expiry as platforms ask for them: by the context and the parameters of a change.

use broker::instances::{AcceptedUpdate, Broker, Caller, Error, Update};
use domain::OperationId;
use engine::State;
use serde_json::{Value, json};

use crate::{
    updating::change,
    world::{FREE, TRIAL, World, request},
};

async fn ask(
    broker: &Broker,
    context: Value,
    parameters: Option<Value>,
) -> Result<AcceptedUpdate, Error> {
    let request =
        Update { plan_id: String::new(), context: Some(context), parameters, ..change("i-1") };
    broker.update(&Caller::default(), request).await
}

async fn active(world: &World, active: bool) -> AcceptedUpdate {
    let context = json!({"globalaccount_id": "ga-1", "active": active});
    ask(&world.broker, context, None).await.unwrap()
}

impl World {
    /// The newest operation of the instance.
    async fn last(&self) -> OperationId {
        self.store.last_operation("i-1", None).await.unwrap().unwrap().into()
    }

    async fn end_last(&self) -> OperationId {
        let last = self.last().await;
        self.end(&last, State::Succeeded, vec![]).await;
        last
    }
}

pub(crate) async fn a_trial_is_suspended_and_comes_back_by_its_context(world: World) {
    world.trial("i-1").await;

    let suspended = active(&world, false).await;
    active(&world, false).await;
    let suspension = world.end_last().await;
    assert_eq!(world.state("i-1").await, "suspended");
    let returned = active(&world, true).await;
    active(&world, true).await;
    let back = world.end_last().await;

    assert_eq!((suspended.operation, returned.operation), (None, None));
    assert_eq!(suspended.labels["Name"], "dev");
    assert_eq!(world.read(&suspension).await.kind, "deprovision");
    assert_eq!(world.read(&back).await.kind, "provision");
    assert_eq!((world.active("i-1").await, world.state("i-1").await), (Some(true), "succeeded"));
    assert_eq!(world.operations().await, 3);
}

pub(crate) async fn the_context_of_a_suspension_is_kept_for_the_return(world: World) {
    world.trial("i-1").await;
    let credentials = |id: &str| {
        json!({"globalaccount_id": "ga-1", "active": false, "sm_operator_credentials": {
            "clientid": id, "clientsecret": "hush", "sm_url": "https://sm.test", "url": "https://a.test",
        }})
    };
    ask(&world.broker, credentials("first"), None).await.unwrap();
    world.end_last().await;
    let kept = ask(&world.broker, credentials("second"), None).await.unwrap();

    active(&world, true).await;

    assert_eq!(kept.operation, None);
    let input = world.read(&world.last().await).await.input;
    let input: Value = serde_json::from_slice(&input).unwrap();
    let id = &input["order"]["context"]["sm_operator_credentials"]["clientid"];
    assert_eq!((id, world.operations().await), (&json!("second"), 3));
}

pub(crate) async fn parameters_beside_a_suspension_are_refused(world: World) {
    world.trial("i-1").await;
    let context = json!({"active": false});

    let together = ask(&world.broker, context, Some(json!({"administrators": ["a@b.test"]}))).await;

    let Err(Error::Unchangeable(text)) = together else { panic!("it is accepted") };
    assert!(text.starts_with("context.active and parameters cannot change together"), "{text}");
    assert_eq!((world.operations().await, world.active("i-1").await), (1, None));
    let empty = ask(&world.broker, json!({"active": false}), Some(json!({}))).await.unwrap();
    assert_eq!((empty.operation, world.operations().await), (None, 2));
}

pub(crate) async fn parameters_of_a_suspended_instance_are_refused(world: World) {
    world.trial("i-1").await;
    active(&world, false).await;
    let asked = || Some(json!({"administrators": ["a@b.test"]}));

    for context in [json!({}), json!({"active": false}), json!({"active": true})] {
        let refused = ask(&world.broker, context.clone(), asked()).await;
        assert!(matches!(refused, Err(Error::Unchangeable(_))), "{context}");
    }

    assert_eq!(world.operations().await, 2);
}

pub(crate) async fn other_plans_ignore_whether_they_are_active(world: World) {
    world.made("i-1").await;

    let answer = active(&world, false).await;

    assert_eq!((answer.operation, world.operations().await), (None, 1));
    assert_eq!(world.active("i-1").await, Some(false));
}

pub(crate) async fn the_plans_are_those_that_the_settings_name(world: World) {
    world.made("i-1").await;
    let broker = world.with_suspended(&["aws"]);

    ask(&broker, json!({"active": false}), None).await.unwrap();

    world.end_last().await;
    assert_eq!(world.state("i-1").await, "suspended");
}

pub(crate) async fn an_instance_of_a_plan_that_is_not_suspended_any_more_comes_back(world: World) {
    world.made("i-1").await;
    ask(&world.with_suspended(&["aws"]), json!({"active": false}), None).await.unwrap();
    world.end_last().await;

    let answer = active(&world, true).await;

    assert_eq!((answer.operation, world.operations().await), (None, 3));
    assert_eq!(world.read(&world.end_last().await).await.kind, "provision");
    assert_eq!((world.active("i-1").await, world.state("i-1").await), (Some(true), "succeeded"));
}

pub(crate) async fn a_failed_suspension_is_tried_again_with_any_change(world: World) {
    world.trial("i-1").await;
    active(&world, false).await;
    let failed = world.last().await;
    world.fail(&failed, "no connection").await;
    assert_eq!(world.state("i-1").await, "failed");

    ask(&world.broker, json!({}), None).await.unwrap();

    assert_ne!(world.last().await, failed);
    world.end_last().await;
    assert_eq!(world.state("i-1").await, "suspended");
}

pub(crate) async fn a_trial_expires_by_its_parameters_and_is_only_removed_from_then_on(
    world: World,
) {
    world.trial("i-1").await;
    let request = Update {
        plan_id: TRIAL.into(),
        context: Some(json!({"globalaccount_id": "", "active": false})),
        parameters: Some(json!({"expired": true})),
        accepts_incomplete: false,
        ..change("i-1")
    };

    let answer = world.broker.update(&Caller::default(), request).await.unwrap();

    assert_eq!(answer.operation, None);
    assert!(world.store.find("i-1").await.unwrap().unwrap().expired_at.is_some());
    world.end_last().await;
    assert_eq!(world.state("i-1").await, "suspended");
    let told = "cannot update an expired instance";
    for (context, parameters) in [
        (json!({"active": true}), None),
        (json!({}), Some(json!({"administrators": ["a@b.test"]}))),
    ] {
        let refused = ask(&world.broker, context, parameters).await;
        assert!(matches!(refused, Err(Error::Bad(text)) if text == told));
    }
    // What the platform says about it is still stored.
    ask(&world.broker, json!({"origin": "cockpit"}), None).await.unwrap();
    assert_eq!(world.operations().await, 2);
    world.remove("i-1").await.unwrap();
}

pub(crate) async fn an_expired_instance_of_a_plan_that_is_never_suspended_cannot_be_active_again(
    world: World,
) {
    let mut order = request("i-1", FREE);
    order.parameters = Some(json!({"name": "dev", "region": "eu-central-1"}));
    order.region = Some("cf-eu10".into());
    let caller = Caller::default();
    let made = world.broker.provision(&caller, order).await.unwrap().operation.unwrap();
    world.end(&made, State::Succeeded, vec![]).await;
    ask(&world.broker, json!({"active": false}), Some(json!({"expired": true}))).await.unwrap();
    world.end_last().await;

    let refused = ask(&world.broker, json!({"active": true}), None).await;

    let Err(Error::Bad(text)) = refused else { panic!("it is accepted") };
    assert_eq!(text, "cannot update an expired instance");
    assert_eq!((world.operations().await, world.active("i-1").await), (2, Some(false)));
}

pub(crate) async fn what_cannot_expire_by_its_parameters_is_told_so(world: World) {
    world.made("i-1").await;
    let expired = || Some(json!({"expired": true}));

    let unsupported = ask(&world.broker, json!({"active": false}), expired()).await.unwrap_err();
    let active = ask(&world.broker, json!({"active": true}), expired()).await.unwrap_err();

    assert_eq!(unsupported.to_string(), "expiration of a non-trial instance is not supported");
    assert_eq!(active.to_string(), "context.active=false is required for expiration");
    assert_eq!(world.store.find("i-1").await.unwrap().unwrap().expired_at, None);
}

pub(crate) async fn the_licence_of_a_suspension_or_return_is_that_of_the_next_cluster(
    world: World,
) {
    let filter_of = async || {
        let input = world.read(&world.last().await).await.input;
        let input: Value = serde_json::from_slice(&input).unwrap();
        input["order"]["resolved"]["networkFilterDisabled"].clone()
    };
    world.trial("i-1").await;

    let licence = |active: bool, licence: &str| json!({"active": active, "license_type": licence});
    ask(&world.broker, licence(false, "CUSTOMER"), None).await.unwrap();
    world.end_last().await;
    active(&world, true).await;
    let said_before = filter_of().await;
    world.end_last().await;
    active(&world, false).await;
    world.end_last().await;
    // Kept while it sleeps.
    ask(&world.broker, json!({"license_type": "SAPDEV"}), None).await.unwrap();
    active(&world, true).await;
    let kept = filter_of().await;
    world.end_last().await;
    active(&world, false).await;
    world.end_last().await;
    ask(&world.broker, licence(true, "PARTNER"), None).await.unwrap();
    let said_with_it = filter_of().await;

    assert_eq!((said_before, kept, said_with_it), (json!(true), json!(false), json!(true)));
    let row = world.store.find("i-1").await.unwrap().unwrap();
    let order: broker::Order = serde_json::from_slice(&row.order).unwrap();
    assert!(order.resolved.network_filter_disabled);
}

pub(crate) async fn what_needs_no_operation_needs_no_platform_that_can_wait(world: World) {
    let ask = async |context: Value, parameters: Option<Value>| {
        let request = Update {
            plan_id: String::new(),
            context: Some(context),
            parameters,
            accepts_incomplete: false,
            ..change("i-1")
        };
        world.broker.update(&Caller::default(), request).await
    };
    world.trial("i-1").await;
    let running = ask(json!({"license_type": "CUSTOMER"}), None).await;
    assert!(matches!(running, Err(Error::AsyncRequired)));

    for (context, begins) in [
        (json!({"active": false, "license_type": "CUSTOMER"}), true),
        (json!({"license_type": "PARTNER"}), false),
        (json!({"active": true, "license_type": "TRIAL"}), true),
    ] {
        let answer = ask(context.clone(), Some(json!({}))).await.unwrap();
        assert_eq!(answer.operation, None, "{context}");
        if begins {
            world.end_last().await;
        }
    }
    let expired = ask(json!({"active": false}), Some(json!({"expired": true}))).await.unwrap();
    world.end_last().await;
    let told = ask(json!({"license_type": "CUSTOMER"}), None).await.unwrap();
    let values = ask(json!({}), Some(json!({}))).await;

    assert_eq!((expired.operation, told.operation), (None, None));
    assert!(matches!(values, Err(Error::Bad(text)) if text == "cannot update an expired instance"));
    assert_eq!(world.operations().await, 4);
}

pub(crate) async fn after_a_failed_return_only_the_context_is_taken_until_the_instance_is_back(
    world: World,
) {
    world.trial("i-1").await;
    active(&world, false).await;
    world.end_last().await;
    active(&world, true).await;
    let failed = world.last().await;
    world.fail(&failed, "no quota").await;

    let values = || Some(json!({"administrators": ["a@b.test"]}));
    let refused = ask(&world.broker, json!({}), values()).await;
    let licence = ask(&world.broker, json!({"license_type": "CUSTOMER"}), None).await.unwrap();

    let Err(Error::Unchangeable(text)) = refused else { panic!("it is accepted") };
    assert!(text.starts_with("the instance has not come back from its suspension"), "{text}");
    assert_eq!((licence.operation, world.operations().await), (None, 3));
    active(&world, true).await;
    let input = world.read(&world.last().await).await.input;
    let input: Value = serde_json::from_slice(&input).unwrap();
    assert_eq!(input["order"]["context"]["license_type"], "CUSTOMER");
    assert_eq!(input["order"]["resolved"]["networkFilterDisabled"], true);
}
