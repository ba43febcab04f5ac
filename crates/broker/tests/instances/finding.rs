//! Instances as their owners see them.

use std::time::Duration;

use broker::instances::{Caller, Error, Provision};
use engine::{State, storage::Change};
use serde_json::{Value, json};

use crate::world::{AWS, SERVICE, TRIAL, World, context, request, tenant};

async fn missing(world: &World, instance: &str) -> String {
    match world.broker.find(&Caller::default(), instance).await.unwrap_err() {
        Error::NotFound(text) => text,
        other => panic!("{other}"),
    }
}

pub(crate) async fn an_instance_is_found_once_it_is_complete(world: World) {
    assert_eq!(missing(&world, "i-1").await, "instance with instanceID i-1 does not exist");
    world.ordered("i-1").await;
    assert_eq!(missing(&world, "i-1").await, "provisioning of instanceID i-1 in progress");
    let failed = world.ordered("i-2").await;
    world.fail(&failed, "no quota").await;
    assert_eq!(missing(&world, "i-2").await, "provisioning of instanceID i-2 failed");
    world.made("i-3").await;

    let found = world.broker.find(&tenant("ga-1"), "i-3").await.unwrap();

    assert_eq!((found.service_id.as_str(), found.plan_id.as_str()), (SERVICE, AWS));
    assert_eq!(found.dashboard_url, "https://dashboard.test/?kubeconfigID=i-3");
    assert_eq!(found.labels["Name"], "dev");
    let foreign = world.broker.find(&tenant("ga-2"), "i-3").await;
    assert!(matches!(foreign, Err(Error::NotFound(_))));
}

pub(crate) async fn credentials_are_not_told(world: World) {
    world.made("i-1").await;

    let found = world.broker.find(&Caller::default(), "i-1").await.unwrap();

    let record: Value = serde_json::to_value(&found.record).unwrap();
    let expected = json!({
        "plan_id": AWS,
        "service_id": SERVICE,
        "ers_context": {
            "globalaccount_id": "ga-1", "subaccount_id": "sa-1", "user_id": "jo@example.test",
        },
        "parameters": {"name": "dev"},
        "platform_region": "cf-eu10",
        "platform_provider": "AWS",
    });
    assert_eq!(record, expected);
}

pub(crate) async fn what_is_left_over_is_not_found(world: World) {
    world.made("i-1").await;
    let removal = world.remove("i-1").await.unwrap();
    assert!(world.broker.find(&Caller::default(), "i-1").await.is_ok());
    world.end_incomplete(&removal, "work/Check_Runtime").await;

    let text = missing(&world, "i-1").await;

    assert_eq!(text, "instance with instanceID i-1 does not exist");
}

pub(crate) async fn a_trial_tells_when_it_ends(world: World) {
    const DAY: Duration = Duration::from_secs(86_400);
    let caller = Caller::default();
    let mut unmeant = context("ga-2");
    unmeant["subaccount_id"] = json!("sa-2");
    let unmeant = Provision { context: Some(unmeant), ..request("i-2", TRIAL) };
    for order in [request("i-1", TRIAL), unmeant] {
        let operation = world.broker.provision(&caller, order).await.unwrap().operation.unwrap();
        world.end(&operation, State::Succeeded, vec![]).await;
    }
    let told = async |instance: &str| {
        let mut labels = world.broker.find(&caller, instance).await.unwrap().labels;
        labels.remove("Trial expiration details")
    };

    let mut days = Vec::new();
    for _ in 0..3 {
        days.push(told("i-1").await.unwrap());
        world.clock.advance(DAY * 7);
    }

    assert_eq!(days[0], "Your cluster expires in 14 days.");
    assert_eq!(days[1], "Your cluster expires in  7 days.");
    assert_eq!(days[2], "Your cluster expires today.");
    assert_eq!(told("i-1").await.unwrap(), "Your cluster expires today.");
    assert_eq!(told("i-2").await, None);
}

pub(crate) async fn the_dashboard_has_one_address_in_every_answer(world: World) {
    let ordered = world.order("i.1_a").await.unwrap();
    let operation = ordered.operation.clone().unwrap();
    let said = json!({"dashboard_url": "https://console.c-1.kyma.test"});
    let change = Change { topic: "instance".into(), body: said };
    world.end(&operation, State::Succeeded, vec![change]).await;

    let found = world.broker.find(&Caller::default(), "i.1_a").await.unwrap();
    let repeated = world.order("i.1_a").await.unwrap();

    assert_eq!(ordered.dashboard_url, "https://dashboard.test/?kubeconfigID=i.1_a");
    assert_eq!(found.dashboard_url, ordered.dashboard_url);
    assert_eq!(repeated.dashboard_url, ordered.dashboard_url);
}
