//! Pages of a long list by number, while runtimes come.

use broker::{
    instances::Caller,
    runtimes::{Page, RuntimesQuery},
};

use crate::{exporting::copy, listing::removed, world::World};

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
