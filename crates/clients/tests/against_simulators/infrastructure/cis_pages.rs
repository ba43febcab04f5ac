//! CIS page by page: to the exact end, never past a failure, never in a circle.

use std::{collections::BTreeSet, time::Duration};

use clients::{
    Kind,
    cis::{Edition, Patience, SubaccountEvent},
};
use serde_json::json;
use simulators::trouble::{Cut, Kind as Trouble};

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
async fn a_page_that_fails_is_read_again_however_it_fails() {
    let troubles = [
        Trouble::Busy { retry_after_seconds: 0, as_date: false },
        Trouble::Status { status: 500, body: None },
        Trouble::Reset { when: Cut::BeforeHeaders },
        Trouble::Reset { when: Cut::AfterHeaders },
        Trouble::Truncated,
        Trouble::Malformed { body: None },
    ];
    for trouble in troubles {
        let world = after_deletions(6).await;
        let events = events(&world, 2);
        world.trouble("cis", "GET", 2, trouble.clone());

        let deleted = events.deleted_subaccounts(Edition::CentralCursor, QUICK).await.unwrap();

        assert_eq!(deleted.len(), 6, "{trouble:?}");
        assert_eq!(world.calls("cis").len(), 5, "{trouble:?}");
    }
}

#[tokio::test]
async fn patience_is_for_the_whole_run_and_not_for_each_page() {
    let world = after_deletions(6).await;
    let events = events(&world, 1);
    // Every second call fails: each page once.
    let rule = simulators::trouble::Rule::next(100, Trouble::Status { status: 500, body: None });
    let rule = rule.of("cis").for_a_share(0.5);
    world.running.landscape.troubles().add(rule).unwrap();
    let patience = Patience { retries: 2, ..QUICK };

    let mut failed = 0;
    for _ in 0..10 {
        let before = world.calls("cis").len();
        if let Err(error) = events.deleted_subaccounts(Edition::CentralCursor, patience).await {
            assert!(matches!(error.kind, Kind::Unavailable | Kind::Paused { .. }), "{error}");
            failed += 1;
        }
        assert!(world.calls("cis").len() - before <= 6 + 2);
    }

    assert!(failed > 0);
}

#[tokio::test]
async fn pages_that_go_round_in_a_circle_are_noticed() {
    let world = after_deletions(6).await;
    world.order("cis", "circle-cursors", json!({})).await;

    let error = events(&world, 2).deleted_subaccounts(Edition::CentralCursor, QUICK).await;

    assert_eq!(error.unwrap_err().kind, Kind::Malformed);
    assert_eq!(world.calls("cis").len(), 2);
}

#[tokio::test]
async fn a_cursor_that_expired_stops_the_run() {
    let world = after_deletions(6).await;
    let rule = simulators::trouble::Rule::next(1, Trouble::Status { status: 410, body: None });
    let events = events(&world, 2);
    events.check().await.unwrap();
    world.running.landscape.troubles().add(rule.of("cis")).unwrap();

    let error = events.deleted_subaccounts(Edition::CentralCursor, QUICK).await.unwrap_err();

    assert_eq!(error.kind, Kind::NotFound);
}

#[tokio::test]
async fn pages_that_were_announced_and_do_not_come_are_not_waited_for() {
    let world = after_deletions(6).await;
    world.order("cis", "announce-more-pages", json!({"by": 3})).await;
    let events = events(&world, 2);

    for edition in [Edition::Public, Edition::Central] {
        let before = world.calls("cis").len();
        assert_eq!(events.deleted_subaccounts(edition, QUICK).await.unwrap().len(), 6);
        assert_eq!(world.calls("cis").len() - before, 3);
    }
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

#[tokio::test]
async fn pages_that_were_read_before_a_failure_are_not_lost() {
    let world = World::new().await;
    for number in 0..4 {
        let with = json!({"id": format!("sa-{number}")});
        world.order("cis", "create-subaccount", with).await;
    }
    world.order("cis", "circle-cursors", json!({})).await;

    let changes = events(&world, 2).changes(Duration::from_mins(20), QUICK).await;

    assert!(changes.read.len() >= 2);
    assert_eq!(changes.stopped.unwrap().kind, Kind::Malformed);
}
