//! CIS page by page: all of them, to the exact end.

mod failures;

use std::{collections::BTreeSet, time::Duration};

use clients::cis::{Edition, SubaccountEvent};
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{
    cis::{QUICK, events},
    world::World,
};

const EDITIONS: [Edition; 3] = [Edition::Public, Edition::Central, Edition::CentralCursor];

/// A world in which so many subaccounts were deleted a while ago.
async fn after_deletions(count: usize) -> World {
    let world = World::new().await;
    for number in 0..count {
        let id = format!("sa-{number}");
        let with = json!({"id": id, "event": "Subaccount_Deletion", "at": "2026-01-01T11:00:00Z"});
        world.order("cis", "tell", with).await;
    }
    world
}

#[tokio::test]
async fn all_pages_are_read_and_none_too_many() {
    let world = after_deletions(120).await;
    let events = events(&world, 50);
    events.check().await.unwrap();

    for (number, edition) in EDITIONS.into_iter().enumerate() {
        let deleted = events.deleted_subaccounts(edition, QUICK).await.unwrap();

        let unique: BTreeSet<&String> = deleted.iter().collect();
        assert_eq!((deleted.len(), unique.len()), (120, 120));
        assert_eq!(world.calls("cis").len(), 1 + 3 * (number + 1), "{edition:?}");
    }
}

#[tokio::test]
async fn no_events_are_one_page() {
    let world = World::new().await;
    let events = events(&world, 50);

    for edition in EDITIONS {
        assert!(events.deleted_subaccounts(edition, QUICK).await.unwrap().is_empty());
    }
    assert_eq!(world.calls("cis").len(), 3);
}

#[tokio::test]
async fn duplicates_and_events_of_other_types_are_left_out() {
    let world = after_deletions(2).await;
    let again = json!({"id": "sa-0", "event": "Subaccount_Deletion", "at": "2026-01-01T11:30:00Z"});
    world.order("cis", "tell", again).await;
    let body = json!({"events": [
        {"entityId": "sa-7", "eventType": "Subaccount_Update"},
        {"entityId": "sa-8", "eventType": "Subaccount_Deletion"},
    ]});
    let events = events(&world, 10);

    let deleted = events.deleted_subaccounts(Edition::CentralCursor, QUICK).await.unwrap();
    assert_eq!(deleted, ["sa-0", "sa-1"]);
    world.trouble("cis", "GET", 1, Trouble::Malformed { body: Some(body.to_string()) });
    let deleted = events.deleted_subaccounts(Edition::CentralCursor, QUICK).await.unwrap();
    assert_eq!(deleted, ["sa-8"]);
}

#[tokio::test]
async fn changes_come_in_order_and_say_only_what_they_know() {
    let world = World::new().await;
    let at = |minute: u32| format!("2026-01-01T11:{minute}:00Z");
    let production = "USED_FOR_PRODUCTION";
    let with = json!({"id": "sa", "beta": true, "production": production, "at": at(50)});
    world.order("cis", "create-subaccount", with).await;
    let bare = json!({"id": "other", "event": "Subaccount_Update", "at": at(40), "details": {"betaEnabled": false}});
    world.order("cis", "tell", bare).await;
    world
        .order(
            "cis",
            "tell",
            json!({"id": "old", "event": "Subaccount_Update", "at": "2025-12-31T11:00:00Z"}),
        )
        .await;

    let changes = events(&world, 1).changes(Duration::from_mins(20), QUICK).await;

    assert!(changes.stopped.is_none());
    let [first, second] = changes.read.as_slice() else { panic!("{changes:?}") };
    assert_eq!((first.subaccount.as_str(), first.happened), ("other", SubaccountEvent::Update));
    assert_eq!((first.beta_enabled, &first.used_for_production), (Some(false), &None));
    assert_eq!((second.subaccount.as_str(), second.happened), ("sa", SubaccountEvent::Creation));
    assert_eq!(second.used_for_production.as_deref(), Some(production));
}
