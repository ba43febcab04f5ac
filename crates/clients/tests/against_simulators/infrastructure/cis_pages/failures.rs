//! Pages of CIS that fail, expire, do not come, or go round in a circle.

use std::time::Duration;

use clients::{
    Kind,
    cis::{Edition, Patience},
};
use serde_json::json;
use simulators::trouble::{Cut, Kind as Trouble};

use super::{
    super::{
        cis::{QUICK, events},
        world::World,
    },
    after_deletions,
};

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
