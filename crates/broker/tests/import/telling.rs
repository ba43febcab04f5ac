//! What those who order read about operations that failed in the original.

use broker::instances::{Caller, Deprovision};
use serde_json::json;
use store::import::Mode;

use crate::{
    original::{Original, PLANS, SERVICE, Situation, database, id_of_operation},
    world::World,
};

/// What an inner system says, with names that are not for those who order.
const INNER: &str = "Shoot c-4711 of garden-kyma: secret sb-aws-7 is forbidden";

#[tokio::test(flavor = "multi_thread")]
async fn customers_read_a_safe_text_and_the_error_id_and_operators_what_the_original_wrote() {
    let not_made = PLANS.len();
    let (from, all) = database(not_made + 8).await;
    let lookup = "HAP lookup for secret binding to provision cluster for global account ID";
    let texts = [
        ("cannot create AVS evaluation".to_owned(), "cannot create AVS evaluation".to_owned()),
        (
            format!("call to the provisioner service failed: {INNER}"),
            "call to the provisioner service failed".to_owned(),
        ),
        (
            "operation has reached the time limit: 24h0m0s".to_owned(),
            "operation has reached the time limit".to_owned(),
        ),
        (INNER.to_owned(), "the operation failed".to_owned()),
        (format!("{lookup} other on Hyperscaler x has failed: {INNER}"), lookup.to_owned()),
        (String::new(), "the operation failed".to_owned()),
    ];
    for (at, (theirs, _)) in texts.iter().enumerate() {
        let number = not_made + at;
        assert_eq!(all[number].situation, Situation::NotMade);
        let operation = id_of_operation(number, 0);
        let set =
            format!("UPDATE operations SET description = '{theirs}' WHERE id = '{operation}'");
        from.run(&set).await;
    }
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;

        let runtimes = world.runtimes("all").await;
        for (at, (theirs, safe)) in texts.iter().enumerate() {
            let number = not_made + at;
            let (instance, operation) = (all[number].id(), id_of_operation(number, 0));
            let told = world.broker.last_operation(&Caller::default(), instance, None).await;
            let told = told.unwrap().description;

            assert!(told.starts_with(safe), "{told}");
            assert!(told.ends_with(&format!(" (error id {operation})")), "{told}");
            assert!(!told.contains("garden-kyma") && !told.contains("other"), "{told}");
            let runtime = runtimes.iter().find(|it| it.instance_id == instance).unwrap();
            assert_eq!(&runtime.status.provisioning.as_ref().unwrap().description, theirs);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn customers_read_that_an_operation_was_interrupted() {
    let being_made = PLANS.len() * 10;
    let (from, all) = database(being_made + 1).await;
    assert_eq!(all[being_made].situation, Situation::BeingMade);
    for world in World::both().await {
        world.import_as(&from, Mode::Apply, true).await.unwrap();

        let instance = all[being_made].id();
        let told = world.broker.last_operation(&Caller::default(), instance, None).await.unwrap();

        let id = id_of_operation(being_made, 0);
        assert_eq!(told.description, format!("the operation was interrupted (error id {id})"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_continues_one_of_the_original_tells_what_it_does_itself() {
    let (from, all) = database(PLANS.len() * 7).await;
    let failed = |it: &&Original| it.situation == Situation::RemovalFailed;
    let original = all.iter().find(failed).unwrap();
    let theirs = original.operations.last().unwrap()["id"].clone();
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;
        let caller = Caller::default();
        let before = world.broker.last_operation(&caller, original.id(), None).await.unwrap();
        let request = Deprovision {
            instance_id: original.id().to_owned(),
            service_id: SERVICE.into(),
            plan_id: original.instance["service_plan_id"].as_str().unwrap().into(),
            accepts_incomplete: true,
        };

        let begun = world.broker.deprovision(&caller, request).await.unwrap();
        let after = world.broker.last_operation(&caller, original.id(), None).await.unwrap();

        assert_ne!(json!(begun.to_string()), theirs);
        let id = theirs.as_str().unwrap();
        assert_eq!(before.description, format!("the operation failed (error id {id})"));
        assert_eq!(after.description, "Operation created");
    }
}
