//! Imports that are repeated, and that were stopped in the middle.

use base::Clock;
use broker::instances::{Caller, Deprovision, Error, Provision, Update};
use serde_json::{Value, json};
use store::{
    broker::TOPIC,
    import::Mode,
    testing::{ManualReplica, originals::encrypted},
};

use crate::{
    original::{KEY, Original, PLANS, SERVICE, Situation, database, fill},
    world::World,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_second_import_takes_over_only_what_is_new_and_changes_nothing_else() {
    let (from, all) = database(PLANS.len() * 9).await;
    for world in World::both().await {
        let first = world.import(&from, Mode::Apply).await;
        let before = format!("{:?}", world.runtimes("all").await);

        let second = world.import(&from, Mode::Apply).await;

        assert_eq!(format!("{:?}", world.runtimes("all").await), before);
        let (first, again) = (first.counts["instances"], second.counts["instances"]);
        assert_eq!((again.taken, again.present), (0, first.taken));
        assert_eq!(second.counts["removed instances"].taken, 0);
        let now = second.findings.iter().find(|it| it.problem.contains("has gone on"));
        assert_eq!(now, None);
    }
    let new: Vec<Original> = (all.len()..all.len() + 3).map(Original::number).collect();
    let known = world_with(&from).await;
    fill(&from, &new).await;

    let report = known.import(&from, Mode::Apply).await;

    assert_eq!(report.counts["instances"].taken, 3);
}

async fn world_with(from: &store::testing::originals::OriginalDatabase) -> World {
    let world = World::both().await.remove(0);
    world.import(from, Mode::Apply).await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_original_did_since_is_listed_and_not_mixed_in() {
    let (from, all) = database(2).await;
    let world = world_with(&from).await;
    let mut update = all[0].operations[0].clone();
    update["id"] = json!("00000000-0000-4000-8000-00000000aaaa");
    update["type"] = json!("update");
    update["created_at"] = json!("2027-01-01T00:00:00Z");
    from.insert("operations", &[update]).await;
    from.run(&format!("DELETE FROM instances WHERE instance_id = '{}'", all[1].id())).await;

    let report = world.import(&from, Mode::Apply).await;

    let listed = |id: &str, words: &str| {
        let all = report.findings.iter();
        all.filter(|it| it.subject.contains(id) && it.problem.contains(words)).count()
    };
    assert_eq!(listed(all[0].id(), "00000000aaaa"), 1, "{:#?}", report.findings);
    assert_eq!(listed(all[1].id(), "removed in the original"), 1, "{:#?}", report.findings);
    assert_eq!(world.runtimes("all").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_was_stopped_anywhere_is_completed_by_the_next_one() {
    let (from, all) = database(PLANS.len() * 9).await;
    let whole = world_with(&from).await;
    let expected: Vec<String> = ids(&whole).await;
    assert_eq!(expected.len(), all.iter().filter(|it| it.situation.word().is_some()).count());
    for world in World::both().await {
        for polls in [3, 40, 200] {
            let mut stopped = Box::pin(world.import_as(&from, Mode::Apply, false));
            for _ in 0..polls {
                let woken = futures::poll!(&mut stopped).is_ready();
                if woken {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(stopped);
        }

        world.import(&from, Mode::Apply).await;

        assert_eq!(ids(&world).await, expected);
        for runtime in world.runtimes("all").await {
            assert!(runtime.status.provisioning.is_some(), "{runtime:?} is half written");
        }
    }
}

async fn ids(world: &World) -> Vec<String> {
    let mut ids: Vec<_> = world
        .runtimes("all")
        .await
        .into_iter()
        .map(|it| format!("{:?}", (it.instance_id, it.status.state)))
        .collect();
    ids.sort();
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn what_had_not_ended_is_left_to_the_original_unless_it_is_stopped_for_good() {
    let being_made = PLANS.len() * 10 + 2;
    let (from, all) = database(being_made + 1).await;
    let id = all[being_made].id();
    assert_eq!(all[being_made].situation, Situation::BeingMade);
    for world in World::both().await {
        let report = world.import(&from, Mode::Apply).await;
        let listed = report.findings.iter().find(|it| it.subject.contains(id)).unwrap();
        assert!(listed.action.contains("--unfinished"), "{listed}");
        assert!(world.store.find(id).await.unwrap().is_none());

        world.import_as(&from, Mode::Apply, true).await.unwrap();

        let runtimes = world.runtimes("failed").await;
        let made = runtimes.iter().find(|it| it.instance_id == id).unwrap();
        let said = &made.status.provisioning.as_ref().unwrap().description;
        assert!(said.contains("was in progress in the original"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_failed_or_was_running_or_left_something_can_be_continued() {
    let (from, all) = database(PLANS.len() * 10).await;
    let wanted = [Situation::RemovalFailed, Situation::BeingRemoved, Situation::LeftOver];
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;

        for original in all.iter().filter(|it| wanted.contains(&it.situation)) {
            let request = Deprovision {
                instance_id: original.id().to_owned(),
                service_id: SERVICE.into(),
                plan_id: original.instance["service_plan_id"].as_str().unwrap().into(),
                accepts_incomplete: true,
            };
            let begun = world.broker.deprovision(&Caller::default(), request).await.unwrap();
            let theirs = original.operations.last().unwrap()["id"].as_str().unwrap();
            assert_ne!(begun.to_string(), theirs, "{original:?}");
        }
        let left = world.broker.leftovers(None, 100).await.unwrap().leftovers;
        let incomplete = all.iter().filter(|it| it.situation == Situation::LeftOver).count();
        assert_eq!(left.len(), incomplete, "{left:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bindings_that_can_still_be_used_are_taken_over() {
    let (from, all) = database(1).await;
    let binding = |id: &str, expires: &str, kubeconfig: String| {
        json!({
            "id": id, "instance_id": all[0].id(), "created_at": "2026-01-01T00:00:00Z", "kubeconfig": kubeconfig,
            "expiration_seconds": 600, "expires_at": expires, "created_by": "jo",
        })
    };
    from.insert(
        "bindings",
        &[
            binding("good", "2099-01-01T00:00:00Z", encrypted(KEY, "apiVersion: v1")),
            binding("expired", "2020-01-01T00:00:00Z", encrypted(KEY, "apiVersion: v1")),
            binding("incomplete", "2099-01-01T00:00:00Z", String::new()),
        ],
    )
    .await;
    for world in World::both().await {
        let report = world.import(&from, Mode::Apply).await;

        let found = world.store.find_binding(all[0].id(), "good").await.unwrap().unwrap();
        assert_eq!(found.credentials.unwrap(), b"apiVersion: v1");
        assert_eq!(report.counts["bindings"].taken, 1);
        assert!(report.findings.iter().any(|it| it.subject.contains("binding incomplete")));
        assert!(world.store.find_binding(all[0].id(), "expired").await.unwrap().is_none());
    }
}

/// The number of a trial instance that is suspended.
const SUSPENDED_TRIAL: usize = PLANS.len() * 4 + 5;

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_was_removed_here_does_not_come_back_with_the_next_import() {
    let (from, all) = database(2).await;
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;
        let gone = all[0].id();
        let request = Deprovision {
            instance_id: gone.to_owned(),
            service_id: SERVICE.into(),
            plan_id: all[0].instance["service_plan_id"].as_str().unwrap().into(),
            accepts_incomplete: true,
        };
        world.broker.deprovision(&Caller::default(), request).await.unwrap();
        let hands = ManualReplica {
            engine: world.store.engine().clone(),
            clock: Clock::running(),
            kind: "deprovision",
            topic: TOPIC,
        };
        let replica = hands.join().await;
        hands.end(replica, gone, json!({ "removed": true })).await;
        assert!(world.store.find(gone).await.unwrap().is_none());

        let again = world.import(&from, Mode::Apply).await;

        assert!(world.store.find(gone).await.unwrap().is_none(), "it does not come back");
        assert!(world.store.find(all[1].id()).await.unwrap().is_some());
        let counts = again.counts["instances"];
        assert_eq!((counts.taken, counts.present), (0, 2));
        let told = again.findings.iter().find(|it| it.subject.contains(gone)).unwrap();
        assert!(told.problem.contains("removed here"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_in_progress_counts_as_failed_and_can_be_repeated_or_undone() {
    let mut original = Original::number(SUSPENDED_TRIAL);
    assert_eq!((original.situation, original.plan), (Situation::Suspended, "trial"));
    original.operations[1]["state"] = json!("in progress");
    original.instance["runtime_id"] = original.operations[1]["data"]["runtime_id"].clone();
    for active in [false, true] {
        for world in World::both().await {
            let from = store::testing::originals::OriginalDatabase::keb().await;
            fill(&from, std::slice::from_ref(&original)).await;

            let left = world.import(&from, Mode::Apply).await;
            assert!(left.findings.iter().any(|it| it.action.contains("--unfinished")));
            assert!(world.store.find(original.id()).await.unwrap().is_none());
            let taken = world.import_as(&from, Mode::Apply, true).await.unwrap();

            let words = "its suspension (operation";
            let told = taken.findings.iter().find(|it| it.problem.contains(words)).unwrap();
            assert!(told.action.contains("kcp suspend"), "{told}");
            activity(&world, &original.instance, active).await;
            let all = world.store.engine().of_instances(&[original.id()]).await.unwrap();
            let newest = all.last().unwrap();
            let kind = if active { "provision" } else { "deprovision" };
            assert_eq!((newest.kind.as_str(), newest.state.is_final()), (kind, false), "{all:#?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_platforms_order_is_recognised_whatever_the_original_changed_or_added() {
    let (from, _) = database(0).await;
    let plans = ["aws", "azure_lite"];
    let at = |plan: &&str| PLANS.iter().position(|(name, ..)| name == plan).unwrap();
    let numbers: Vec<usize> = plans.iter().map(at).collect();
    let mut all: Vec<Original> = numbers.iter().map(|number| Original::number(*number)).collect();
    for it in &mut all {
        let ordered = &mut it.operations[0]["provisioning_parameters"]["parameters"];
        ordered["targetSecret"] = json!("account-secret");
        if it.plan == "azure_lite" {
            ordered["licence_type"] = json!("TestDevelopmentAndDemo");
        }
        let mut since = it.operations[0]["provisioning_parameters"].clone();
        since["ers_context"]["active"] = json!(true);
        since["parameters"]["administrators"] = json!(["x@example.test"]);
        since["parameters"].as_object_mut().unwrap().remove("targetSecret");
        it.instance["provisioning_parameters"] = json!(since.to_string());
    }
    fill(&from, &all).await;

    for world in World::both().await {
        world.import(&from, Mode::Apply).await;

        for (it, number) in all.iter().zip(&numbers) {
            let again = world.broker.provision(&Caller::default(), ordered(it, *number)).await;
            let mut other = ordered(it, *number);
            other.parameters = Some(json!({"name": "other"}));
            let other = world.broker.provision(&Caller::default(), other).await;

            assert_eq!(again.unwrap().operation, None, "{}: it is there", it.plan);
            assert!(matches!(other, Err(Error::Taken(_))), "{}: {other:?}", it.plan);
        }
    }
}

/// What the platform had sent for an instance of this number.
fn ordered(it: &Original, number: usize) -> Provision {
    let parameters = &it.operations[0]["provisioning_parameters"];
    let text = |name: &str| parameters[name].as_str().unwrap().to_owned();
    let mut context = parameters["ers_context"].clone();
    let credentials = &mut context["sm_operator_credentials"];
    credentials["clientid"] = json!("client");
    credentials["clientsecret"] = json!("hush-hush");
    Provision {
        instance_id: it.id().to_owned(),
        region: Some(text("platform_region")),
        service_id: SERVICE.into(),
        plan_id: text("plan_id"),
        context: Some(context),
        parameters: Some(json!({"name": format!("runtime-{number}"), "autoScalerMax": 9})),
        maintenance_version: None,
        accepts_incomplete: true,
    }
}

/// Suspends an instance, or brings it back.
async fn activity(world: &World, instance: &Value, active: bool) {
    let text = |name: &str| instance[name].as_str().unwrap().to_owned();
    let request = Update {
        instance_id: text("instance_id"),
        service_id: SERVICE.into(),
        plan_id: text("service_plan_id"),
        context: Some(json!({ "active": active })),
        parameters: None,
        maintenance_version: None,
        accepts_incomplete: true,
    };
    world.broker.update(&Caller::default(), request).await.unwrap();
}
