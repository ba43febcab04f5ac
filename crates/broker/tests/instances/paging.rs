//! Pages of a long list by number, while runtimes come.

use broker::{instances::Caller, runtimes::RuntimesQuery};

use crate::{exporting::copy, listing::removed, world::World};

/// A page of two, and how many there are on all pages.
async fn page(world: &World, page: u32) -> (Vec<String>, u64) {
    let states = ["all", "deprovisioned"].map(|word| word.parse().unwrap()).to_vec();
    let ask = RuntimesQuery { page, page_size: 2, states, ..RuntimesQuery::default() };
    let page = world.broker.runtimes(&Caller::default(), &ask).await.unwrap();
    (page.data.into_iter().map(|it| it.instance_id).collect(), page.total_count)
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
