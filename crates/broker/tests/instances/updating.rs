//! Changes, in every state of an instance.

use broker::instances::{AcceptedUpdate, Caller, Error, Update};
use engine::{State, storage::Change};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::world::{AWS, AZURE, FREE, SERVICE, TRIAL, World, removal, request, tenant};

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

async fn ask(world: &World, adjust: impl FnOnce(&mut Update)) -> Result<AcceptedUpdate, Error> {
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
    type Adjust = fn(&mut Update);
    world.made("i-1").await;
    let before = world.store.find("i-1").await.unwrap().unwrap().revision;
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

pub(crate) async fn more_zones_than_nodes_are_refused_before_anything_is_stored(world: World) {
    let zones = ["a", "b", "c"].map(|zone| format!("eu-central-1{zone}"));
    let mut order = request("i-1", AWS);
    order.parameters = Some(json!({"name": "dev", "region": "eu-central-1", "zones": zones}));
    let made = world.broker.provision(&Caller::default(), order).await.unwrap();
    world.end(&made.operation.unwrap(), State::Succeeded, vec![]).await;
    let row = world.store.find("i-1").await.unwrap().unwrap();
    let mut order: Value = serde_json::from_slice(&row.order).unwrap();
    let zone = order["resolved"]["cluster"]["zones"][0].clone();
    order["resolved"]["cluster"]["zones"].as_array_mut().unwrap().push(zone);
    let bytes = serde_json::to_vec(&order).unwrap();
    assert!(world.store.change_order("i-1", row.revision, &bytes, None).await.unwrap());

    let refused = ask(&world, |it| it.parameters = Some(json!({"autoScalerMax": 3}))).await;

    let text = "autoScalerMax: 3 nodes are too few for 4 zones, each zone needs room for one";
    assert_eq!(refused.unwrap_err().to_string(), text);
    assert_eq!(world.operations().await, 1);
    changes(&world, json!({"autoScalerMax": 4})).await;
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
    world.made("i-3").await;
    let removal = world.remove("i-3").await.unwrap();
    let gone = Change { topic: "instance".into(), body: json!({"removed": true}) };
    world.end(&removal, State::Succeeded, vec![gone]).await;
    let gone = ask(&world, |it| it.instance_id = "i-3".into()).await.unwrap_err();

    assert!(matches!(gone, Error::NotFound(_)), "{gone}");
    assert!(matches!(failed, Error::Unchangeable(_)), "{failed}");
    assert_eq!(failed.to_string(), "Unable to process an update of a failed instance");
    assert!(matches!(removing, Error::Busy), "{removing}");
    assert!(matches!(removed, Error::Unchangeable(_)), "{removed}");
    assert_eq!(removed.to_string(), "Unable to process an update of a deprovisioned instance");
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

/// Asks for other parameters, and gives the operation.
async fn changes(world: &World, parameters: Value) -> domain::OperationId {
    let answer = ask(world, |request| request.parameters = Some(parameters)).await;
    answer.unwrap().operation.unwrap()
}

pub(crate) async fn parameters_are_an_operation_that_is_told_from_its_acceptance(world: World) {
    world.made("i-1").await;

    let operation =
        changes(&world, json!({"autoScalerMax": 9, "machineType": "m6i.2xlarge"})).await;

    let stored = world.read(&operation).await;
    assert_eq!((stored.kind.as_str(), stored.state), ("update", State::Pending));
    let input: Value = serde_json::from_slice(&stored.input).unwrap();
    assert_eq!(input["parameters"], json!({"autoScalerMax": 9, "machineType": "m6i.2xlarge"}));
    let last = world.follow("i-1", None).await.unwrap();
    assert_eq!((last.progress.as_str(), &*last.description), ("in progress", "Operation created"));
    let found = world.broker.find(&Caller::default(), "i-1").await.unwrap();
    assert_eq!(found.record.parameters.auto_scaler_max, None, "it is stored when it succeeds");
}

pub(crate) async fn parameters_without_a_plan_are_a_change_of_the_plan_that_there_is(world: World) {
    world.made("i-1").await;

    let ask = ask(&world, |request| {
        request.plan_id.clear();
        request.parameters = Some(json!({"autoScalerMax": 9}));
    });
    let operation = ask.await.unwrap().operation.unwrap();

    let input: Value = serde_json::from_slice(&world.read(&operation).await.input).unwrap();
    assert_eq!((&input["plan_id"], &input["order"]["plan_id"]), (&Value::Null, &json!(AWS)));
    assert_eq!(input["parameters"], json!({"autoScalerMax": 9}));
}

pub(crate) async fn empty_parameters_credentials_and_a_licence_are_operations_too(world: World) {
    world.made("i-1").await;
    let credentials = json!({
        "clientid": "d", "clientsecret": "hush", "sm_url": "https://sm.test", "url": "https://a.test",
    });

    let empty = ask(&world, |it| it.parameters = Some(json!({}))).await.unwrap();
    let licence = ask(&world, |it| it.context = Some(json!({"license_type": "PARTNER"}))).await;
    let credentials = ask(&world, |request| {
        request.context = Some(json!({"sm_operator_credentials": credentials}));
    });
    let credentials = credentials.await.unwrap();

    let all = [empty.operation, licence.unwrap().operation, credentials.operation];
    assert!(all.iter().all(Option::is_some));
    assert_eq!(world.operations().await, 4);
}

pub(crate) async fn the_same_change_again_is_answered_with_the_same_operation(world: World) {
    world.made("i-1").await;

    let first = changes(&world, json!({"autoScalerMax": 9})).await;
    let again = changes(&world, json!({"autoScalerMax": 9})).await;
    let other = changes(&world, json!({"autoScalerMax": 10})).await;
    let back = changes(&world, json!({"autoScalerMax": 9})).await;

    assert_eq!(again, first);
    assert_ne!(other, first);
    assert!(back != first && back != other, "the last word counts");
    assert_eq!(world.operations().await, 4);
}

pub(crate) async fn changes_at_once_are_all_kept_one_after_the_other(world: World) {
    world.made("i-1").await;

    let answers =
        join_all((0..20).map(|at| changes(&world, json!({"autoScalerMax": 10 + at % 4}))));
    let answers: std::collections::HashSet<_> = answers.await.into_iter().collect();

    assert!(answers.len() >= 4);
    let mut due = 0;
    for operation in &answers {
        due += usize::from(world.read(operation).await.due_at.is_some());
    }
    assert_eq!(due, 1, "one of them runs");
}

pub(crate) async fn a_change_waits_for_a_running_order_and_is_stopped_by_a_removal(world: World) {
    let order = world.ordered("i-1").await;

    let update = changes(&world, json!({"autoScalerMax": 9})).await;
    assert_eq!(world.read(&update).await.due_at, None);
    world.end(&order, State::Succeeded, vec![]).await;
    assert!(world.read(&update).await.due_at.is_some());
    world.broker.deprovision(&Caller::default(), removal("i-1")).await.unwrap();

    assert_eq!(world.read(&update).await.cancel.unwrap().state, State::Failed);
    let refused = ask(&world, |it| it.parameters = Some(json!({"autoScalerMax": 8}))).await;
    assert!(matches!(refused, Err(Error::Busy)));
}

pub(crate) async fn what_the_context_says_meanwhile_survives_the_end_of_a_change(world: World) {
    world.made("i-1").await;
    let first = ask(&world, |it| {
        it.context = Some(json!({"origin": "before", "region": "eu10", "license_type": "A"}));
        it.parameters = Some(json!({"autoScalerMax": 9}));
    });
    let update = first.await.unwrap().operation.unwrap();
    let accepted = world.broker.find(&Caller::default(), "i-1").await.unwrap().record.ers_context;
    assert_eq!((accepted.origin.as_deref(), accepted.license_type), (Some("before"), None));
    ask(&world, |it| it.context = Some(json!({"origin": "meanwhile"}))).await.unwrap();
    let input: Value = serde_json::from_slice(&world.read(&update).await.input).unwrap();
    assert_eq!(input["context"], json!({"license_type": "A"}), "the end of the change stores it");

    let fields = json!({"/parameters": {"name": "dev", "autoScalerMax": 9}, "/context/license_type": "IkEi"});
    let change = Change { topic: "instance".into(), body: json!({"order_fields": fields}) };
    world.end(&update, State::Succeeded, vec![change]).await;

    let found = world.broker.find(&Caller::default(), "i-1").await.unwrap();
    assert_eq!(found.record.parameters.auto_scaler_max, Some(9));
    assert_eq!(found.record.ers_context.origin.as_deref(), Some("meanwhile"));
    assert_eq!(found.record.ers_context.region.as_deref(), Some("eu10"));
    assert_eq!(found.record.ers_context.license_type.as_deref(), Some("A"));
}

pub(crate) async fn after_an_account_move_every_call_works_for_the_new_account(world: World) {
    let order = world.made("i-1").await;
    ask(&world, |it| it.context = Some(json!({"globalaccount_id": "ga-2"}))).await.unwrap();
    let new = tenant("ga-2");

    let told = world.broker.last_operation(&new, "i-1", None).await;
    let named = world.broker.last_operation(&new, "i-1", Some(&order.to_string())).await;
    let old = world.broker.last_operation(&tenant("ga-1"), "i-1", None).await;
    let mut request = change("i-1");
    request.context = None;
    request.parameters = Some(json!({"autoScalerMax": 9}));
    let changed = world.broker.update(&new, request).await.unwrap().operation.unwrap();
    let removed = world.broker.deprovision(&new, removal("i-1")).await;

    assert!(told.is_ok() && named.is_ok() && removed.is_ok());
    assert!(matches!(old, Err(Error::NotFound(_))));
    assert_eq!(world.read(&changed).await.lane, "ga-2");
    let row = world.store.find("i-1").await.unwrap().unwrap();
    let order: broker::Order = serde_json::from_slice(&row.order).unwrap();
    assert_eq!(order.paying_account(), "ga-1");
}

pub(crate) async fn a_plan_changes_only_to_one_that_the_catalog_names_and_that_has_the_provider(
    world: World,
) {
    let broker = world.with_plan_changes();
    let caller = Caller::default();
    let mut order = request("i-1", FREE);
    order.parameters = Some(json!({"name": "dev", "region": "eu-central-1"}));
    order.region = Some("cf-eu10".into());
    let made = broker.provision(&caller, order).await.unwrap().operation.unwrap();
    world.end(&made, State::Succeeded, vec![]).await;
    let to = |plan: &str| Update { plan_id: plan.into(), ..change("i-1") };

    for (plan, text) in [
        (TRIAL, "the plan of an instance cannot be changed from free to trial"),
        (
            AZURE,
            "the plan of an instance cannot be changed from free to azure: its cluster is on AWS",
        ),
    ] {
        let refused = broker.update(&caller, to(plan)).await.unwrap_err();
        assert!(matches!(refused, Error::PlanUnchangeable(_)), "{refused}");
        assert_eq!(refused.to_string().to_lowercase(), text.to_lowercase());
    }
    let sync = Update { accepts_incomplete: false, ..to(AWS) };
    assert!(matches!(broker.update(&caller, sync).await, Err(Error::AsyncRequired)));
    let parameters = Some(json!({"machineType": "abacus"}));
    let unknown = broker.update(&caller, Update { parameters, ..to(AWS) }).await.unwrap_err();
    assert!(matches!(unknown, Error::Refused(_)), "{unknown}");
    let off = world.broker.update(&caller, to(AWS)).await.unwrap_err();
    assert!(matches!(off, Error::PlanUnchangeable(_)), "{off}");

    let first = broker.update(&caller, to(AWS)).await.unwrap().operation.unwrap();
    let again = broker.update(&caller, to(AWS)).await.unwrap().operation.unwrap();
    assert_eq!(first, again);
    assert_eq!(world.store.find("i-1").await.unwrap().unwrap().plan_name, "free");
}
