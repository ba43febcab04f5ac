//! Changes, in every state of an instance.

use broker::instances::{Caller, Error, Update, Updated};
use engine::State;
use serde_json::{Value, json};

use crate::world::{AWS, SERVICE, TRIAL, World, tenant};

/// A change that says nothing yet.
pub(crate) fn change(instance: &str) -> Update {
    Update {
        instance_id: instance.into(),
        service_id: SERVICE.into(),
        plan_id: AWS.into(),
        context: Some(json!({"globalaccount_id": "ga-1", "subaccount_id": "sa-1"})),
        accepts_incomplete: true,
        ..Update::default()
    }
}

async fn ask(world: &World, adjust: impl FnOnce(&mut Update)) -> Result<Updated, Error> {
    let mut request = change("i-1");
    adjust(&mut request);
    world.broker.update(&Caller::default(), request).await
}

async fn context(world: &World) -> Value {
    let found = world.broker.find(&Caller::default(), "i-1").await.unwrap();
    serde_json::to_value(found.record.ers_context).unwrap()
}

pub(crate) async fn a_context_alone_is_stored_without_an_operation(world: World) {
    world.made("i-1").await;

    let answer = ask(&world, |request| {
        request.context = Some(json!({
            "globalaccount_id": "ga-1", "active": true, "origin": "cockpit",
            "commercial_model": "subscription", "platform": "cf", "region": "eu10",
            "user_id": "somebody@else.test", "subaccount_id": "sa-9", "of_tomorrow": 1,
        }));
        request.plan_id.clear();
        request.accepts_incomplete = false;
    });
    let answer = answer.await.unwrap();

    assert_eq!(answer.operation, None);
    assert_eq!(answer.dashboard_url, "https://dashboard.test/?kubeconfigID=i-1");
    assert_eq!(answer.labels["Name"], "dev");
    assert_eq!(world.operations().await, 1);
    assert_eq!(
        context(&world).await,
        json!({
            "globalaccount_id": "ga-1", "subaccount_id": "sa-1", "user_id": "jo@example.test",
            "active": true, "origin": "cockpit", "commercial_model": "subscription",
            "platform": "cf", "region": "eu10",
        })
    );
}

pub(crate) async fn a_change_that_says_nothing_changes_nothing(world: World) {
    world.made("i-1").await;
    let before = world.store.find("i-1").await.unwrap().unwrap().revision;

    for context in [None, Some(json!({})), change("i-1").context] {
        let answer = ask(&world, |request| request.context = context).await.unwrap();
        assert_eq!(answer.operation, None);
    }

    assert_eq!(world.store.find("i-1").await.unwrap().unwrap().revision, before);
}

pub(crate) async fn what_is_wrong_with_a_change_is_told_and_nothing_is_stored(world: World) {
    world.made("i-1").await;
    let before = world.store.find("i-1").await.unwrap().unwrap().revision;
    type Adjust = fn(&mut Update);
    let table: [(Adjust, &str); 9] = [
        (|it| it.service_id.clear(), "service_id missing"),
        (|it| it.service_id = "other".into(), "service-id not in the catalog"),
        (|it| it.plan_id = "other".into(), "plan-id not in the catalog"),
        (
            |it| it.plan_id = TRIAL.into(),
            "the plan of an instance cannot be changed from aws to trial",
        ),
        (
            |it| it.maintenance_version = Some("1".into()),
            "maintenance_info was passed, but the broker catalog contains no maintenance_info",
        ),
        (
            |it| it.context = Some(json!({"active": "no"})),
            "while extracting ers context: while decoding context: active: has the wrong type",
        ),
        (
            |it| it.parameters = Some(json!({"autoScalerMin": 9, "autoScalerMax": 5})),
            "AutoScalerMax 5 should be larger than AutoScalerMin 9. User provided values min:9, max:5; \
             plan defaults min:3, max:20",
        ),
        (
            |it| it.parameters = Some(json!({"oidc": {"clientID": "x"}})),
            "issuerURL must not be empty",
        ),
        (
            |it| {
                it.parameters = Some(json!({}));
                it.accepts_incomplete = false;
            },
            "This service plan requires client support for asynchronous service operations.",
        ),
    ];

    for (adjust, expected) in table {
        let error = ask(&world, |request| {
            request.context = Some(json!({"origin": "lost"}));
            adjust(request);
        });
        assert_eq!(error.await.unwrap_err().to_string(), expected);
    }

    assert_eq!(world.operations().await, 1);
    assert_eq!(world.store.find("i-1").await.unwrap().unwrap().revision, before);
}

pub(crate) async fn unknown_parameters_and_wrong_types_are_told(world: World) {
    world.made("i-1").await;

    for (parameters, word) in [
        (json!({"autoScalerMin": "4"}), "autoScalerMin"),
        (json!({"machineType": "abacus"}), "machineType"),
        (json!({"region": "eu-west-1"}), "region"),
        (json!({"colour": "blue"}), "colour"),
    ] {
        let error = ask(&world, |request| request.parameters = Some(parameters.clone())).await;
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Refused(_)), "{parameters}: {error}");
        assert!(error.to_string().contains(word), "{parameters}: {error}");
    }
}

pub(crate) async fn an_instance_that_is_not_there_cannot_be_changed(world: World) {
    world.made("i-1").await;

    let unknown = world.broker.update(&Caller::default(), change("nobody")).await.unwrap_err();
    let foreign = world.broker.update(&tenant("ga-2"), change("i-1")).await.unwrap_err();
    let own = world.broker.update(&tenant("ga-1"), change("i-1")).await;

    assert_eq!(unknown.to_string(), "instance with instanceID nobody does not exist");
    assert!(matches!(unknown, Error::NotFound(_)));
    assert!(matches!(foreign, Error::NotFound(_)));
    assert!(own.is_ok());
}

pub(crate) async fn an_instance_that_failed_or_is_removed_cannot_be_changed(world: World) {
    let order = world.ordered("i-1").await;
    world.fail(&order, "no").await;
    let failed = ask(&world, |_| ()).await.unwrap_err();
    world.made("i-2").await;
    let removal = world.remove("i-2").await.unwrap();
    let removing = ask(&world, |it| it.instance_id = "i-2".into()).await.unwrap_err();
    world.end(&removal, State::Failed, vec![]).await;
    let removed = ask(&world, |it| it.instance_id = "i-2".into()).await.unwrap_err();

    assert!(matches!(failed, Error::Unchangeable(_)), "{failed}");
    assert!(matches!(removing, Error::Busy), "{removing}");
    assert!(matches!(removed, Error::Unchangeable(_)), "{removed}");
}

pub(crate) async fn an_account_moves_with_its_context(world: World) {
    world.made("i-1").await;
    let moved = json!({"globalaccount_id": "ga-2"});

    let bound = {
        let mut request = change("i-1");
        request.context = Some(moved.clone());
        world.broker.update(&tenant("ga-1"), request).await.unwrap_err()
    };
    ask(&world, |request| request.context = Some(moved.clone())).await.unwrap();

    assert!(matches!(bound, Error::Foreign), "{bound}");
    assert_eq!(world.store.find("i-1").await.unwrap().unwrap().global_account, "ga-2");
    assert!(world.broker.find(&tenant("ga-2"), "i-1").await.is_ok());
    assert!(world.broker.find(&tenant("ga-1"), "i-1").await.is_err());
}
