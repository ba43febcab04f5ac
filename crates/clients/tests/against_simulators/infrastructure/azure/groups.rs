//! Resource groups: found by their tag, deleted in their own time, and an empty subscription at the end.

use std::time::Duration;

use clients::azure::Progress;
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{super::world::SUBSCRIPTION, add_group, tags, world};

#[tokio::test]
async fn a_group_is_found_by_its_tag_and_deleted_in_its_own_time() {
    let (world, azure) = world().await;
    azure.put_group("kone", "westeurope", &tags("one")).await.unwrap();
    azure.put_group("ktwo", "westeurope", &tags("two")).await.unwrap();

    let found = azure.groups_tagged("InstanceID", "one").await.unwrap();
    assert_eq!(found.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["kone"]);
    let Progress::Running { poll, retry_after } = azure.delete_group("kone").await.unwrap() else {
        panic!("it is gone at once")
    };
    assert_eq!(retry_after, Some(Duration::from_secs(4)));
    assert!(matches!(azure.progress(&poll).await.unwrap(), Progress::Running { .. }));
    assert!(azure.groups_tagged("InstanceID", "one").await.unwrap()[0].is_deleting());
    let in_the_way = azure.put_group("kone", "westeurope", &tags("one")).await.unwrap_err();
    assert_eq!(in_the_way.kind.code(), "throttled");
    assert_eq!(in_the_way.reason.as_deref(), Some("ResourceGroupBeingDeleted"));
    world.clock.advance(Duration::from_secs(5));

    assert_eq!(azure.progress(&poll).await.unwrap(), Progress::Done);
    assert!(azure.groups_tagged("InstanceID", "one").await.unwrap().is_empty());
    assert_eq!(azure.delete_group("kone").await.unwrap(), Progress::Done);
}

#[tokio::test]
async fn a_subscription_is_empty_only_when_nothing_is_left() {
    let (world, azure) = world().await;
    world.order("azure", "set-page-size", json!({"size": 2})).await;
    for number in 0..5 {
        add_group(&world, &format!("g{number}"), "x").await;
    }

    assert_eq!(azure.clean_up().await.unwrap(), 5);
    assert_eq!(azure.clean_up().await.unwrap(), 5, "they are still being deleted");
    world.clock.advance(Duration::from_secs(5));
    assert_eq!(azure.clean_up().await.unwrap(), 0);
}

#[tokio::test]
async fn one_group_that_stays_keeps_the_subscription_dirty() {
    let (world, azure) = world().await;
    for name in ["g1", "g2", "g3"] {
        add_group(&world, name, "x").await;
    }
    let g1 = json!({"subscription": SUBSCRIPTION, "group": "g1"});
    world.order("azure", "lock-group", g1).await;
    world
        .order("azure", "stick-deletion", json!({"subscription": SUBSCRIPTION, "group": "g3"}))
        .await;

    let error = azure.clean_up().await.unwrap_err();
    assert_eq!(error.reason.as_deref(), Some("ScopeLocked"));
    world.clock.advance(Duration::from_mins(1));
    let left: Vec<String> = azure.groups().await.unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(left, ["g1", "g3"]);
    world
        .order(
            "azure",
            "lock-group",
            json!({"subscription": SUBSCRIPTION, "group": "g1", "on": false}),
        )
        .await;
    assert_eq!(azure.clean_up().await.unwrap(), 2);
    world.clock.advance(Duration::from_mins(1));
    assert_eq!(azure.clean_up().await.unwrap(), 1, "a deletion that sticks is no success");
}

#[tokio::test]
async fn any_fault_keeps_the_subscription_dirty() {
    let troubles = [
        Trouble::Down { refuse: false },
        Trouble::Busy { retry_after_seconds: 3, as_date: true },
        Trouble::Status { status: 403, body: None },
        Trouble::Truncated,
        Trouble::Malformed { body: Some("{}".into()) },
    ];
    for trouble in troubles {
        let (world, azure) = world().await;
        azure.check().await.unwrap();
        world.trouble("azure", "GET", 2, trouble.clone());

        assert!(azure.clean_up().await.is_err(), "{trouble:?}");
    }
}
