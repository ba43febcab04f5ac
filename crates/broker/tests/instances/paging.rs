//! Pages of a long list by number, while runtimes come.

use std::time::Duration;

use broker::{
    instances::Caller,
    runtimes::{Page, RuntimesQuery},
};

use engine::{PlantedBug, State, storage::Change};
use serde_json::json;
use store::{BrokerStore, EngineStore, Sealer, engine::Time};

use crate::{
    exporting::{copy, copy_into},
    listing::removed,
    world::World,
};

/// All runtimes, also removed ones, on pages of this size.
fn all(page: u32, page_size: u32) -> RuntimesQuery {
    let states = ["all", "deprovisioned"].map(|word| word.parse().unwrap()).to_vec();
    RuntimesQuery { page, page_size, states, ..RuntimesQuery::default() }
}

fn ids(page: Page) -> (Vec<String>, u64) {
    (page.data.into_iter().map(|it| it.instance_id).collect(), page.total_count)
}

/// A page of two, and how many there are on all pages.
async fn page(world: &World, page: u32) -> (Vec<String>, u64) {
    ids(world.broker.runtimes(&Caller::default(), &all(page, 2)).await.unwrap())
}

/// A page of a hundred from the newest, and how many there are on all pages.
async fn newest(world: &World, page: u32) -> (Vec<String>, u64) {
    ids(world.broker.newest_runtimes(&Caller::default(), &all(page, 100)).await.unwrap())
}

pub(crate) async fn removed_runtimes_behind_a_long_list_are_not_passed_over_while_it_grows(
    world: World,
) {
    world.made("last").await;
    // From a thousand on a list is long.
    copy(&world, "last", 1_000).await;
    for instance in ["gone-1", "gone-2"] {
        removed(&world, instance).await;
    }
    let of = |ids: &[&str]| (ids.iter().map(ToString::to_string).collect::<Vec<_>>(), 1_003);
    assert_eq!(page(&world, 501).await, of(&["last", "gone-1"]));

    // The total is a moment old from now on.
    world.made("late").await;

    assert_eq!(page(&world, 501).await, of(&["last", "gone-1"]));
    assert_eq!(page(&world, 502).await, of(&["gone-2"]));
}

pub(crate) async fn from_the_newest_every_runtime_is_on_one_page_and_a_new_one_on_the_first(
    world: World,
) {
    world.made("last").await;
    copy(&world, "last", 1_100).await;
    for instance in ["gone-1", "gone-2"] {
        removed(&world, instance).await;
    }
    let mut found = Vec::new();
    for number in 1..=12 {
        let (page, total) = newest(&world, number).await;
        assert_eq!(total, 1_103);
        found.extend(page);
    }
    let copies = (0..1_100).rev().map(|n| format!("copy-{n:05}"));
    let first = ["gone-2", "gone-1", "last"].map(str::to_owned);
    let expected: Vec<String> = first.into_iter().chain(copies).collect();
    assert_eq!(found, expected);

    // The total is a moment old from now on.
    world.made("late").await;

    let (page, total) = newest(&world, 1).await;
    assert_eq!(
        (&page[..4], total),
        (&["gone-2", "gone-1", "late", "last"].map(str::to_owned)[..], 1_103)
    );
}

pub(crate) async fn a_runtime_whose_row_cannot_be_read_is_on_its_page(world: World) {
    world.made("i-1").await;
    let (database, time) = (world.engine.database().clone(), Time::Held(world.clock.clone()));
    let foreign = EngineStore::new(database, Sealer::generate(), time, PlantedBug::Nothing);
    copy_into(&BrokerStore::new(foreign, world.clock.clone()), &world, "i-1", 1).await;
    let (caller, ask) = (Caller::default(), RuntimesQuery::default());

    for page in [
        world.broker.runtimes(&caller, &ask).await.unwrap(),
        world.broker.newest_runtimes(&caller, &ask).await.unwrap(),
    ] {
        assert_eq!((page.count, page.total_count), (2, 2));
        let found = |id: &str| page.data.iter().find(|it| it.instance_id == id).unwrap();
        assert_eq!(found("i-1").status.state, "succeeded");
        let unreadable = found("copy-00000");
        assert_eq!((unreadable.status.state, unreadable.shoot_name.as_str()), ("error", ""));
    }
}

pub(crate) async fn the_last_page_of_a_long_list_is_counted_anew_when_a_runtime_has_gone(
    world: World,
) {
    world.made("last").await;
    copy(&world, "last", 1_049).await;
    let page = async |page: u32| {
        let ask = RuntimesQuery { page, page_size: 100, ..RuntimesQuery::default() };
        let page = world.broker.runtimes(&Caller::default(), &ask).await.unwrap();
        (page.count, page.total_count)
    };
    assert_eq!(page(11).await, (50, 1_050));
    let removal = world.remove("last").await.unwrap();
    let gone = Change { topic: "instance".into(), body: json!({ "removed": true }) };
    world.end(&removal, State::Succeeded, vec![gone]).await;

    assert_eq!(page(1).await, (100, 1_050), "the total is as old as it was");
    assert_eq!(page(11).await, (49, 1_049));
    assert_eq!(page(12).await, (0, 1_049));
    assert_eq!(page(1).await, (100, 1_049));
}

pub(crate) async fn a_runtime_that_came_since_a_long_list_was_counted_is_on_its_last_page(
    world: World,
) {
    world.made("first").await;
    copy(&world, "first", 1_099).await;
    let page = async |page: u32| {
        let ask = RuntimesQuery { page, page_size: 100, ..RuntimesQuery::default() };
        let page = world.broker.runtimes(&Caller::default(), &ask).await.unwrap();
        (page.data.last().map(|it| it.instance_id.clone()), page.count, page.total_count)
    };
    assert_eq!(page(11).await.2, 1_100);
    world.clock.advance(Duration::from_millis(1));
    world.made("late").await;

    assert_eq!(page(1).await.2, 1_100, "the total is as old as it was");
    assert_eq!(page(11).await.2, 1_101);
    assert_eq!(page(12).await, (Some("late".to_owned()), 1, 1_101));
}
