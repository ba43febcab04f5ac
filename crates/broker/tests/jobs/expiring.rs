//! Trial and free instances expire when their time is over; removals that left something are continued.

use broker::{
    catalog::Offer,
    instances::{Broker, Caller, Parts, Update},
    jobs::{Outcome, Settings},
};

use crate::{
    looking::unreadable_of,
    world::{AWS, FREE, SERVICE, TRIAL, World, counts, order},
};

#[tokio::test(flavor = "multi_thread")]
async fn instances_expire_when_their_time_is_over_and_a_dry_run_changes_nothing() {
    for world in World::both(Settings::default).await {
        order(&world.days_ago(20), "old", TRIAL, "sa-1").await;
        order(&world.days_ago(13), "young", TRIAL, "sa-2").await;
        order(&world.days_ago(99), "paid", AWS, "sa-3").await;

        let dry = world.run("expiry", true).await;
        assert_eq!((dry.report.candidates, dry.report.done), (1, 1));
        assert_eq!(dry.report.details[0].item, "old");
        assert_eq!(dry.report.details[0].outcome, Outcome::WouldDo);
        assert_eq!(world.store.find("old").await.unwrap().unwrap().expired_at, None);

        assert_eq!(world.counts("expiry", false).await, [1, 1, 0, 0]);
        assert!(world.store.find("old").await.unwrap().unwrap().expired_at.is_some());
        assert_eq!(world.operations("old", "deprovision").await, 1);
        for other in ["young", "paid"] {
            assert_eq!(world.store.find(other).await.unwrap().unwrap().expired_at, None);
        }
        assert_eq!(world.counts("expiry", false).await, [0, 0, 0, 0], "it is done once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_whose_plan_changes_is_passed_over() {
    for world in World::both(Settings::default).await {
        let parts = world.env.broker.parts();
        let broker = Broker::new(Parts {
            store: parts.store.clone(),
            operations: parts.operations.clone(),
            shapes: Vec::new(),
            catalog: parts.catalog.clone(),
            offer: Offer { plan_updateable: true, ..parts.offer.clone() },
            accounts: None,
            settings: parts.settings.clone(),
            clock: parts.clock.clone(),
        });
        order(&world.days_ago(40), "old", FREE, "sa-1").await;
        let to_aws = Update {
            instance_id: "old".into(),
            service_id: SERVICE.into(),
            plan_id: AWS.into(),
            accepts_incomplete: true,
            ..Update::default()
        };
        broker.update(&Caller::default(), to_aws).await.unwrap();

        let run = world.run("expiry", false).await;

        assert_eq!(counts(&run), [1, 0, 1, 0]);
        assert_eq!(run.report.details[0].text, "another operation has to end first");
        assert_eq!(world.store.find("old").await.unwrap().unwrap().expired_at, None);
        assert_eq!(world.operations("old", "deprovision").await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_that_cannot_be_read_are_noted_once_however_often_their_page_is_read() {
    for world in World::both(Settings::default).await {
        // More than a page acts on.
        for number in 0..25 {
            order(&world.days_ago(40), &format!("i-{number:02}"), FREE, "sa-1").await;
        }
        let like = world.store.find("i-00").await.unwrap().unwrap();
        // More than a report has room for.
        let ids: Vec<String> = (0..70).map(|number| format!("u-{number:02}")).collect();
        unreadable_of(&world, &like, &ids, 39).await;

        let run = world.run("expiry", false).await;

        assert_eq!(counts(&run), [95, 25, 0, 70]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_plan_has_a_period_of_its_own() {
    let expiry = [("trial".to_owned(), std::time::Duration::from_hours(24 * 30))].into();
    let world = World::new(Settings { expiry, ..Settings::default() }).await;
    order(&world.days_ago(20), "old", TRIAL, "sa-1").await;

    assert_eq!(world.counts("expiry", false).await, [0, 0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_removals_that_left_something_are_continued() {
    for world in World::both(Settings::default).await {
        world.made(3, "there", None).await;
        world.left_over("left").await;

        assert_eq!(world.counts("deprovision-retrigger", true).await, [1, 1, 0, 0]);
        assert_eq!(world.operations("left", "deprovision").await, 1);
        assert_eq!(world.counts("deprovision-retrigger", false).await, [1, 1, 0, 0]);
        assert_eq!(world.operations("left", "deprovision").await, 2);
        assert_eq!(world.operations("there", "deprovision").await, 0);
        let again = world.counts("deprovision-retrigger", false).await;
        assert_eq!(again, [1, 0, 1, 0], "it runs already");
        assert_eq!(world.operations("left", "deprovision").await, 2);
    }
}
