//! Retries by operators, and their effect on an instance.

use broker::{
    instances::{Caller, Progress, Update},
    runtimes::RuntimesQuery,
};
use domain::OperationId;
use engine::{
    State,
    storage::{Acceptance, Change, Unfinished, Verdict},
};
use serde_json::{Value, json};
use store::engine::RetryResult;
use uuid::Uuid;

use crate::{updating::change, world::World};

/// A retry, as `Operations::retry` asks for it.
async fn retry(world: &World, operation: &OperationId) -> (OperationId, RetryResult) {
    let new = Uuid::now_v7();
    let alone = |unfinished: &[Unfinished]| {
        unfinished.first().map_or(Verdict::Queue, |other| Verdict::Refuse(other.id))
    };
    let continued = world.engine.continue_newest(operation.uuid(), new, &alone).await.unwrap();
    (OperationId::from(new), continued)
}

pub(crate) async fn an_instance_stands_as_the_retry_of_its_order_does(world: World) {
    let failed = world.ordered("i-1").await;
    world.fail(&failed, "no quota").await;

    let (new, continued) = retry(&world, &failed).await;
    let again = world.order("i-1").await.unwrap();
    let running = world.follow("i-1", None).await.unwrap();
    world.end(&new, State::Succeeded, vec![]).await;
    let complete = world.order("i-1").await.unwrap();

    assert_eq!(continued, RetryResult::Yes(Acceptance::Started));
    assert_eq!(again.operation, Some(new.clone()), "the same order is answered with its retry");
    assert_eq!(running.progress, Progress::InProgress);
    assert_eq!(complete.operation, None);
    assert_eq!(world.follow("i-1", None).await.unwrap().progress, Progress::Succeeded);
    assert_eq!(world.follow("i-1", Some(&failed)).await.unwrap().progress, Progress::Failed);
    let page = world.broker.runtimes(&Caller::default(), &RuntimesQuery::default()).await.unwrap();
    let status = serde_json::to_value(&page.data[0]).unwrap()["status"].clone();
    assert_eq!(status["state"], "succeeded", "{status:#}");
    assert_eq!(status["provisioning"]["operationID"], json!(new.to_string()));
    assert_eq!(status["unsuspension"]["count"].as_u64().unwrap_or_default(), 0, "{status:#}");
}

pub(crate) async fn a_retry_of_a_failed_return_has_the_context_that_was_stored_since(world: World) {
    let (broker, caller) = (world.with_suspended(&["aws"]), Caller::default());
    let order = world.made("i-1").await;
    let suspension = broker.suspend(&caller, "i-1").await.unwrap();
    world.end(&suspension, State::Succeeded, vec![]).await;
    let failed = broker.unsuspend(&caller, "i-1").await.unwrap().unwrap();
    world.fail(&failed, "no quota").await;
    let credentials = json!({
        "clientid": "new", "clientsecret": "hush", "sm_url": "https://sm.test", "url": "https://a.test",
    });
    let context = Some(json!({"sm_operator_credentials": credentials}));
    let stored = broker.update(&caller, Update { context, ..change("i-1") }).await.unwrap();
    assert_eq!(stored.operation, None);

    let (new, continued) = retry(&world, &failed).await;

    assert_eq!(continued, RetryResult::Yes(Acceptance::Started));
    let input = async |operation: &OperationId| -> Value {
        serde_json::from_slice(&world.read(operation).await.input).unwrap()
    };
    let (before, now) = (input(&failed).await, input(&new).await);
    assert_eq!(now["order"]["context"]["sm_operator_credentials"]["clientid"], "new");
    assert_ne!(before["order"], now["order"]);
    assert_eq!(
        (&now["returning"], input(&order).await["returning"].clone()),
        (&json!(true), json!(false))
    );
}

pub(crate) async fn a_removal_that_failed_is_retried_and_an_older_order_is_not(world: World) {
    let order = world.ordered("i-1").await;
    world.fail(&order, "no quota").await;
    let removal = world.remove("i-1").await.unwrap();
    let (_, while_running) = retry(&world, &order).await;
    world.fail(&removal, "no access").await;

    let (_, older) = retry(&world, &order).await;
    let (new, continued) = retry(&world, &removal).await;
    let change = Change { topic: "instance".into(), body: json!({"removed": true}) };
    world.end(&new, State::Succeeded, vec![change]).await;

    assert_eq!(while_running, RetryResult::Yes(Acceptance::Refused(removal.uuid())));
    assert_eq!(older, RetryResult::Older(removal.uuid()));
    assert_eq!(continued, RetryResult::Yes(Acceptance::Started));
    assert!(world.store.find("i-1").await.unwrap().is_none());
    let (_, after) = retry(&world, &order).await;
    assert_eq!(after, RetryResult::Older(new.uuid()), "it is gone, and stays gone");
}
