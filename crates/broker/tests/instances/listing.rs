//! The list of runtimes, as operators see it.

use std::time::Duration;

use broker::{
    instances::{Caller, Error, Provision},
    runtimes::{Detail, Page, RuntimesQuery, StateWord},
};
use domain::OperationId;
use engine::{
    State,
    storage::{Change, NewOperation, Outcome, Unfinished, Verdict},
};
use serde_json::{Value, json};
use store::broker::NewRuntimeState;
use uuid::Uuid;

use crate::world::{AWS, SERVICE, StepReport, World, context, request, tenant};

async fn page(world: &World, ask: &RuntimesQuery) -> Page {
    world.broker.runtimes(&Caller::default(), ask).await.unwrap()
}

fn ids(page: &Page) -> Vec<&str> {
    page.data.iter().map(|runtime| runtime.instance_id.as_str()).collect()
}

/// The ids and states that these words choose; the counts must agree.
async fn chosen(world: &World, words: &[&str]) -> Vec<(String, &'static str)> {
    let states = words.iter().map(|word| word.parse::<StateWord>().unwrap()).collect();
    let page = page(world, &RuntimesQuery { states, ..RuntimesQuery::default() }).await;
    assert_eq!((page.count, page.total_count), (page.data.len() as u64, page.data.len() as u64));
    page.data.into_iter().map(|told| (told.instance_id, told.status.state)).collect()
}

fn change(body: Value) -> Vec<Change> {
    vec![Change { topic: "instance".into(), body }]
}

/// Accepts an operation as something else than a platform would, with the input of an earlier one.
async fn accept(world: &World, kind: &str, like: &OperationId, more: Value) -> OperationId {
    let before = world.read(like).await;
    let mut input: Value = serde_json::from_slice(&before.input).unwrap();
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let operation = NewOperation {
        id: Uuid::now_v7(),
        instance: before.instance.clone(),
        kind: kind.into(),
        data_version: 1,
        lane: before.lane,
        input: input.to_string().into_bytes(),
        data: b"{}".to_vec(),
        digest: None,
    };
    let id = operation.id;
    let queue = |_: &[Unfinished]| Verdict::Queue;
    world.store.accept(&before.instance, 0, operation, &queue, None).await.unwrap();
    id.into()
}

/// Takes an instance away completely.
pub(crate) async fn removed(world: &World, instance: &str) -> OperationId {
    world.made(instance).await;
    world.clock.advance(Duration::from_secs(1));
    let removal = world.remove(instance).await.unwrap();
    world.end(&removal, State::Succeeded, change(json!({"removed": true}))).await;
    removal
}

pub(crate) async fn a_runtime_is_told_with_its_operations(world: World) {
    let operation = world.ordered("i-1").await;
    let runtime = Uuid::from_u128(7);
    let details = json!({"runtime_version": {"version": "2.12.0", "origin": "defaults", "major": 2},
                         "avs": {"internal_id": 42}});
    let row = json!({"runtime_id": runtime, "details": details});
    world.end_knowing(&operation, &details, change(row)).await;

    let told = page(&world, &RuntimesQuery::default()).await;

    let mut told = serde_json::to_value(&told).unwrap();
    let shoot = told["data"][0]["shootName"].take();
    assert!(shoot.as_str().unwrap().len() >= 7, "{shoot}");
    let at = "2026-01-01T12:00:00Z";
    let expected = json!({
        "instanceID": "i-1", "runtimeID": runtime, "globalAccountID": "ga-1",
        "subscriptionGlobalAccountID": "", "subAccountID": "sa-1", "region": "eu-central-1",
        "subAccountRegion": "cf-eu10", "shootName": null, "serviceClassID": SERVICE,
        "serviceClassName": "kymaruntime", "servicePlanID": AWS, "servicePlanName": "aws",
        "provider": "AWS", "userID": "jo@example.test", "avsInternalEvaluationID": 42,
        "kymaVersion": "2.12.0", "parameters": {"name": "dev"},
        "status": {
            "createdAt": at, "modifiedAt": at, "state": "succeeded",
            "provisioning": {
                "state": "succeeded", "description": "Processing finished", "createdAt": at,
                "updatedAt": at, "operationID": operation, "finishedStages": [],
                "runtimeVersion": "2.12.0",
            },
        },
    });
    assert_eq!(told, json!({"data": [expected], "count": 1, "totalCount": 1}));
}

/// One runtime in each state there is.
async fn one_in_each_state(world: &World) {
    let working = StepReport { step: "Starting", outcome: Outcome::Done, note: None };
    world.ordered("pending").await;
    world.say(&world.ordered("provisioning").await, &working).await;
    world.made("succeeded").await;
    world.fail(&world.ordered("failed").await, "no quota").await;
    world.end(&world.ordered("called-off").await, State::Canceled, vec![]).await;
    world.made("deprovisioning").await;
    world.made("left-over").await;
    for (kind, instance) in [("update", "updating"), ("upgradeKyma", "upgrading")] {
        let made = world.made(instance).await;
        world.clock.advance(Duration::from_secs(1));
        world.say(&accept(world, kind, &made, json!({})).await, &working).await;
    }
    for state in [State::Failed, State::Canceled] {
        let made = world.made(&format!("update-{state}")).await;
        world.clock.advance(Duration::from_secs(1));
        let update = accept(world, "update", &made, json!({})).await;
        world.end(&update, state, vec![]).await;
    }
    let made = world.made("suspended").await;
    world.clock.advance(Duration::from_secs(1));
    let suspension = accept(world, "deprovision", &made, json!({"temporary": true})).await;
    world.end(&suspension, State::Succeeded, change(json!({"runtime_id": null}))).await;
    let removal = world.remove("deprovisioning").await.unwrap();
    world.say(&removal, &working).await;
    let removal = world.remove("left-over").await.unwrap();
    world.end_incomplete(&removal, "work/Check_Runtime").await;
    removed(world, "gone").await;
}

/// Words, and the runtimes that they choose with the state that is told.
type Choice = (&'static [&'static str], &'static [(&'static str, &'static str)]);

pub(crate) async fn every_word_chooses_the_runtimes_that_it_is_told_of(world: World) {
    one_in_each_state(&world).await;

    let words = |list: &[(&'static str, &'static str)]| -> Vec<(String, &'static str)> {
        list.iter().map(|(id, state)| ((*id).to_owned(), *state)).collect()
    };
    let table: [Choice; 12] = [
        (&["provisioning"], &[("pending", "provisioning"), ("provisioning", "provisioning")]),
        (&["succeeded"], &[("succeeded", "succeeded"), ("update-canceled", "succeeded")]),
        (&["failed"], &[("called-off", "failed"), ("failed", "failed")]),
        (&["error"], &[("update-failed", "error")]),
        (&["updating"], &[("updating", "updating")]),
        (&["upgrading"], &[("upgrading", "upgrading")]),
        (&["deprovisioning"], &[("deprovisioning", "deprovisioning")]),
        (&["suspended"], &[("suspended", "suspended")]),
        (&["deprovisionincomplete"], &[("left-over", "deprovisionincomplete")]),
        (&["deprovisioned"], &[("left-over", "deprovisionincomplete"), ("gone", "deprovisioned")]),
        (
            &["error", "deprovisionincomplete"],
            &[("left-over", "deprovisionincomplete"), ("update-failed", "error")],
        ),
        (&["suspended", "error"], &[("update-failed", "error"), ("suspended", "suspended")]),
    ];
    for (asked, expected) in table {
        let mut found = chosen(&world, asked).await;
        let mut expected = words(expected);
        if asked == ["failed"] || asked == ["provisioning"] {
            found.sort();
            expected.sort();
        }
        assert_eq!(found, expected, "{asked:?}");
    }
    assert_eq!(chosen(&world, &["all"]).await.len(), 12);
    let usual = chosen(&world, &[]).await;
    assert_eq!(usual.len(), 10);
    assert!(usual.iter().all(|(id, _)| id != "suspended" && id != "left-over"), "{usual:?}");
}

pub(crate) async fn pages_are_asked_for_by_number_across_rows_and_what_is_left_of_others(
    world: World,
) {
    for n in 1..=5 {
        world.made(&format!("i-{n}")).await;
        world.clock.advance(Duration::from_secs(1));
    }
    let numbered = async |page_number: u32, states: &[&str]| {
        let states = states.iter().map(|word| word.parse().unwrap()).collect();
        let ask =
            RuntimesQuery { page: page_number, page_size: 2, states, ..RuntimesQuery::default() };
        let page = page(&world, &ask).await;
        let ids: Vec<String> = ids(&page).into_iter().map(str::to_owned).collect();
        (ids, page.count, page.total_count)
    };
    let of = |ids: &[&str], total: u64| {
        (ids.iter().map(ToString::to_string).collect::<Vec<_>>(), ids.len() as u64, total)
    };

    assert_eq!(numbered(1, &[]).await, of(&["i-1", "i-2"], 5));
    assert_eq!(numbered(3, &[]).await, of(&["i-5"], 5));
    assert_eq!(numbered(4, &[]).await, of(&[], 5));

    for n in 6..=8 {
        removed(&world, &format!("i-{n}")).await;
    }
    let both = ["succeeded", "deprovisioned"];
    assert_eq!(numbered(3, &both).await, of(&["i-5", "i-6"], 8));
    assert_eq!(numbered(4, &both).await, of(&["i-7", "i-8"], 8));
    assert_eq!(numbered(5, &both).await, of(&[], 8));
    assert_eq!(numbered(1, &[]).await, of(&["i-1", "i-2"], 5));
}

pub(crate) async fn what_is_removed_is_told_by_its_operations_and_forgets_who_ordered(
    world: World,
) {
    let order = world.ordered("i-1").await;
    let runtime = Uuid::from_u128(7);
    let details = json!({"runtime_id": runtime});
    world.end_knowing(&order, &details, change(details.clone())).await;
    world.clock.advance(Duration::from_secs(1));
    let removal = world.remove("i-1").await.unwrap();
    world.end(&removal, State::Succeeded, change(json!({"removed": true}))).await;
    removed(&world, "i-2").await;
    let states = vec!["deprovisioned".parse().unwrap()];
    let ask = RuntimesQuery { instances: vec!["i-1".into()], states, ..RuntimesQuery::default() };

    let told = page(&world, &ask).await;

    assert_eq!((ids(&told), told.total_count), (vec!["i-1"], 1));
    let told = serde_json::to_value(&told.data[0]).unwrap();
    assert_eq!(told["runtimeID"], json!(runtime));
    assert_eq!(told["status"]["deletedAt"], "2026-01-01T12:00:01Z");
    assert_eq!(told["status"]["createdAt"], "2026-01-01T12:00:00Z");
    assert_eq!(told["status"]["deprovisioning"]["operationID"], json!(removal));
    assert_eq!(
        (&told["servicePlanName"], &told["globalAccountID"]),
        (&json!("aws"), &json!("ga-1"))
    );
    assert!(!told.to_string().contains("example.test"), "{told}");
    let more = RuntimesQuery { plans: vec!["aws".into()], ..ask };
    let refused = world.broker.runtimes(&Caller::default(), &more).await.unwrap_err();
    assert!(matches!(&refused, Error::Bad(text) if text.starts_with("plan ")), "{refused}");
}

pub(crate) async fn a_tenant_sees_its_own_runtimes_alone(world: World) {
    world.made("i-1").await;
    removed(&world, "i-2").await;
    let other = Provision { context: Some(context("ga-2")), ..request("i-3", AWS) };
    world.broker.provision(&Caller::default(), other).await.unwrap();
    let states: Vec<StateWord> =
        ["all", "deprovisioned"].iter().map(|word| word.parse().unwrap()).collect();
    let all = RuntimesQuery { states, ..RuntimesQuery::default() };
    let of = |accounts: &[&str]| RuntimesQuery {
        accounts: accounts.iter().map(ToString::to_string).collect(),
        ..all.clone()
    };
    let none: &[&str] = &[];

    for (caller, ask, expected) in [
        (Caller::default(), of(&[]), &["i-1", "i-3", "i-2"][..]),
        (Caller::default(), of(&["ga-2"]), &["i-3"]),
        (tenant("ga-1"), of(&[]), &["i-1", "i-2"]),
        (tenant("ga-1"), of(&["ga-2", "ga-1"]), &["i-1", "i-2"]),
        (tenant("ga-1"), of(&["ga-2"]), none),
        (tenant("ga-2"), of(&[]), &["i-3"]),
        (
            tenant("ga-2"),
            RuntimesQuery { instances: vec!["i-1".into(), "i-2".into()], ..of(&[]) },
            none,
        ),
    ] {
        let told = world.broker.runtimes(&caller, &ask).await.unwrap();
        assert_eq!(ids(&told), expected, "{caller:?} {ask:?}");
        assert_eq!(told.total_count, expected.len() as u64);
    }
}

pub(crate) async fn of_changes_the_newest_two_are_told_and_all_are_counted(world: World) {
    let made = world.made("i-1").await;
    let mut updates = Vec::new();
    for _ in 0..3 {
        world.clock.advance(Duration::from_secs(60));
        let update = accept(&world, "update", &made, json!({})).await;
        world.end(&update, State::Succeeded, vec![]).await;
        updates.push(update);
    }

    let all = page(&world, &RuntimesQuery::default()).await;
    let last =
        page(&world, &RuntimesQuery { detail: Detail::Last, ..RuntimesQuery::default() }).await;

    for status in [&all.data[0].status, &last.data[0].status] {
        let told: Vec<_> = status.update.data.iter().map(|it| &it.operation_id).collect();
        assert_eq!(told, [&updates[2], &updates[1]]);
        assert_eq!((status.update.count, status.update.total_count), (2, 3));
        assert_eq!(status.modified_at.to_string(), "2026-01-01T12:03:00Z");
    }
    assert!(all.data[0].status.provisioning.is_some());
    assert!(last.data[0].status.provisioning.is_none());
}

pub(crate) async fn configurations_are_told_on_request_without_secrets(world: World) {
    let operation = world.ordered("i-1").await;
    let runtime = Uuid::from_u128(7);
    world.end(&operation, State::Succeeded, change(json!({"runtime_id": runtime}))).await;
    let keep = async |holds: &str, payload: Value| {
        let state = NewRuntimeState {
            instance: "i-1".into(),
            runtime,
            operation: operation.uuid(),
            holds: vec![holds.into()],
            payload: payload.to_string().into_bytes(),
        };
        assert!(world.store.add_runtime_state(&state).await.unwrap());
        world.clock.advance(Duration::from_secs(1));
    };
    for machine in ["m5.xlarge", "m5.2xlarge"] {
        let cluster = json!({"gardenerConfig": {"machineType": machine}});
        keep("cluster-config", json!({"clusterConfig": cluster})).await;
    }
    let kyma = json!({
        "version": "2.12.0", "profile": "Production", "administrators": ["jo@example.test"],
        "components": [
            {"component": "x", "namespace": "n", "URL": "", "version": "", "configuration": [
                {"key": "a", "value": "hush", "secret": true},
                {"key": "b", "value": true, "secret": false},
                {"key": "c", "value": 7, "secret": false},
            ]},
            {"component": "y", "namespace": "n", "URL": "https://y.test", "version": "", "configuration": []},
        ],
    });
    keep("kyma-version", json!({"kymaConfig": kyma, "kubeconfig": "hush"})).await;

    let without = page(&world, &RuntimesQuery::default()).await;
    let ask = RuntimesQuery { kyma_config: true, cluster_config: true, ..RuntimesQuery::default() };
    let with = page(&world, &ask).await;

    assert!(without.data[0].kyma_config.is_none() && without.data[0].cluster_config.is_none());
    let told = serde_json::to_value(&with.data[0]).unwrap();
    assert_eq!(told["clusterConfig"], json!({"machineType": "m5.2xlarge"}));
    let entry = |key: &str, value: &str, secret: bool| json!({"key": key, "value": value, "secret": secret});
    let expected = json!({
        "version": "2.12.0", "profile": "Production", "configuration": [], "conflictStrategy": null,
        "components": [
            {"component": "x", "namespace": "n", "sourceURL": null, "conflictStrategy": null, "configuration": [
                entry("a", "[REDACTED]", true), entry("b", "true", false), entry("c", "7", false),
            ]},
            {"component": "y", "namespace": "n", "sourceURL": "https://y.test", "conflictStrategy": null,
             "configuration": []},
        ],
    });
    assert_eq!(told["kymaConfig"], expected);
    assert!(!told.to_string().contains("hush"), "{told}");
}

pub(crate) async fn the_kyma_that_the_provisioner_installs_is_told_in_the_same_form(world: World) {
    let operation = world.ordered("i-1").await;
    let runtime = Uuid::from_u128(7);
    world.end(&operation, State::Succeeded, change(json!({"runtime_id": runtime}))).await;
    let setting = json!([{"key": "a", "value": "hush", "secret": true}]);
    let kyma = json!({
        "version": "1.24.0", "profile": "Evaluation", "conflictStrategy": "Replace", "configuration": setting,
        "components": [{"component": "x", "namespace": "n", "configuration": setting}],
    });
    let state = NewRuntimeState {
        instance: "i-1".into(),
        runtime,
        operation: operation.uuid(),
        holds: vec!["cluster-config".into(), "kyma-version".into()],
        payload: json!({"kymaConfig": kyma}).to_string().into_bytes(),
    };
    assert!(world.store.add_runtime_state(&state).await.unwrap());

    let told = page(&world, &RuntimesQuery { kyma_config: true, ..RuntimesQuery::default() }).await;

    let redacted = json!([{"key": "a", "value": "[REDACTED]", "secret": true}]);
    let expected = json!({
        "version": "1.24.0", "profile": "Evaluation", "conflictStrategy": "Replace", "configuration": redacted,
        "components": [{"component": "x", "namespace": "n", "configuration": redacted,
                        "sourceURL": null, "conflictStrategy": null}],
    });
    assert_eq!(told.data[0].kyma_config, Some(expected));
}

pub(crate) async fn a_pattern_finds_shoots_page_by_page(world: World) {
    for n in 1..=5 {
        world.made(&format!("i-{n}")).await;
        world.clock.advance(Duration::from_secs(1));
    }
    let all = page(&world, &RuntimesQuery::default()).await;
    let names: Vec<String> = all.data.iter().map(|it| it.shoot_name.clone()).collect();
    let found = async |shoots: &[&str], more: RuntimesQuery| {
        let shoots = shoots.iter().map(ToString::to_string).collect();
        let found = page(&world, &RuntimesQuery { shoots, ..more }).await;
        let ids: Vec<String> = ids(&found).into_iter().map(str::to_owned).collect();
        (ids, found.total_count)
    };
    let of =
        |ids: &[&str], total: u64| (ids.iter().map(ToString::to_string).collect::<Vec<_>>(), total);
    let begins = |name: &str| format!("{}.*", &name[..6]);
    let second = RuntimesQuery { page: 2, page_size: 2, ..RuntimesQuery::default() };
    let named =
        RuntimesQuery { instances: vec!["i-2".into(), "i-4".into()], ..RuntimesQuery::default() };
    let account = RuntimesQuery {
        accounts: vec!["ga-1".into()],
        page_size: 1,
        page: 5,
        ..RuntimesQuery::default()
    };

    assert_eq!(found(&[".*"], second).await, of(&["i-3", "i-4"], 5));
    assert_eq!(found(&[&begins(&names[1])], RuntimesQuery::default()).await, of(&["i-2"], 1));
    let two = [begins(&names[0]), names[4].clone()];
    assert_eq!(found(&[&two[0], &two[1]], RuntimesQuery::default()).await, of(&["i-1", "i-5"], 2));
    assert_eq!(found(&["[a-z0-9-]+"], named).await, of(&["i-2", "i-4"], 2));
    assert_eq!(found(&["."], RuntimesQuery::default()).await, of(&[], 0));
    assert_eq!(found(&[".+"], account).await, of(&["i-5"], 5));
}

pub(crate) async fn steps_that_were_not_completed_are_told_by_their_names_alone(world: World) {
    world.made("i-1").await;
    let removal = world.remove("i-1").await.unwrap();
    let avs = "De-provision_AVS_Evaluations";
    let left = [format!("{avs}/{avs}"), "Remove_Instance/Remove_Instance".into()];
    world.end_leaving(&removal, &left.each_ref().map(String::as_str)).await;

    let states = vec!["deprovisionincomplete".parse().unwrap()];
    let told = page(&world, &RuntimesQuery { states, ..RuntimesQuery::default() }).await;

    let told = serde_json::to_value(&told.data[0].status).unwrap();
    assert_eq!(told["deprovisioning"]["executedButNotCompletedSteps"], json!([avs]));
}
