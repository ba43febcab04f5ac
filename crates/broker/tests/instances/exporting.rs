//! All runtimes, a few at a time.

use std::time::Duration;

use broker::{
    instances::Caller,
    runtimes::{Runtime, RuntimesQuery, StateWord},
};
use engine::{State, storage::Change};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use store::{
    BrokerStore,
    broker::{ImportedInstance, NewInstance, Standing},
};

use crate::world::{World, tenant};

/// Everything that is exported, and in how many pages.
async fn exported(world: &World, caller: &Caller, ask: RuntimesQuery) -> (Vec<Runtime>, usize) {
    let mut export = world.broker.export(caller, ask).unwrap();
    let (mut all, mut pages) = (Vec::new(), 0);
    while let Some(page) = export.next().await.unwrap() {
        assert!((1..=100).contains(&page.len()));
        all.extend(page);
        pages += 1;
    }
    (all, pages)
}

fn ids(runtimes: &[Runtime]) -> Vec<&str> {
    runtimes.iter().map(|runtime| runtime.instance_id.as_str()).collect()
}

/// Copies an instance so many times.
pub(crate) async fn copy(world: &World, instance: &str, count: i64) {
    copy_into(&world.store, world, instance, count).await;
}

/// The same, as a store with another key writes them.
pub(crate) async fn copy_into(store: &BrokerStore, world: &World, instance: &str, count: i64) {
    let like = world.store.find(instance).await.unwrap().unwrap();
    let began = Timestamp::from_second(1_600_000_000).unwrap();
    let copied = |n: i64| {
        // Several share a time, so that the id decides.
        let created_at = began + SignedDuration::from_secs(n / 7);
        let instance = NewInstance {
            id: format!("copy-{n:05}"),
            global_account: like.global_account.clone(),
            subaccount: like.subaccount.clone(),
            service_id: like.service_id.clone(),
            plan_id: like.plan_id.clone(),
            plan_name: like.plan_name.clone(),
            provider: like.provider.clone(),
            region: like.region.clone(),
            platform_region: like.platform_region.clone(),
            shoot_name: format!("c-{n:05}"),
            dashboard_url: like.dashboard_url.clone(),
            order: like.order.clone(),
            details: None,
        };
        ImportedInstance {
            instance,
            runtime_id: None,
            digest: Vec::new(),
            created_at,
            updated_at: created_at,
            deleted_at: None,
            expired_at: None,
            operations: vec![],
            states: vec![],
            bindings: vec![],
        }
    };
    let all: Vec<ImportedInstance> = (0..count).map(copied).collect();
    store.import(&all).await.unwrap();
}

pub(crate) async fn an_export_tells_what_all_pages_tell(world: World) {
    world.made("i-1").await;
    copy(&world, "i-1", 250).await;
    let asks = [
        RuntimesQuery::default(),
        RuntimesQuery { plans: vec!["aws".into()], ..RuntimesQuery::default() },
        RuntimesQuery { shoots: vec!["c-00.5[0-4]".into()], ..RuntimesQuery::default() },
        RuntimesQuery { shoots: vec!["c-00007".into()], ..RuntimesQuery::default() },
        RuntimesQuery {
            instances: vec!["i-1".into(), "copy-00003".into()],
            ..RuntimesQuery::default()
        },
        RuntimesQuery { accounts: vec!["nobody".into()], ..RuntimesQuery::default() },
    ];

    for ask in asks {
        let mut listed = Vec::new();
        for page in 1..=4 {
            let page = RuntimesQuery { page, ..ask.clone() };
            listed.extend(world.broker.runtimes(&Caller::default(), &page).await.unwrap().data);
        }
        let (all, _) = exported(&world, &Caller::default(), ask.clone()).await;
        assert_eq!(ids(&all), ids(&listed), "{ask:?}");
    }
    let (none, _) = exported(&world, &tenant("another"), RuntimesQuery::default()).await;
    assert!(none.is_empty());
}

pub(crate) async fn removed_runtimes_come_behind_the_others(world: World) {
    for instance in ["i-1", "i-2", "i-3"] {
        world.made(instance).await;
    }
    for instance in ["i-1", "i-3"] {
        let removal = world.remove(instance).await.unwrap();
        let change = Change { topic: "instance".into(), body: json!({"removed": true}) };
        world.end(&removal, State::Succeeded, vec![change]).await;
    }
    let states = vec![StateWord::Is(Standing::Deprovisioned), StateWord::Is(Standing::Succeeded)];
    let ask = RuntimesQuery { states, ..RuntimesQuery::default() };

    let (all, _) = exported(&world, &Caller::default(), ask.clone()).await;
    let instances = vec!["i-3".to_owned()];
    let (one, _) =
        exported(&world, &Caller::default(), RuntimesQuery { instances, ..ask.clone() }).await;
    let (others, _) = exported(&world, &tenant("another"), ask).await;

    assert_eq!(ids(&all), ["i-2", "i-1", "i-3"]);
    assert_eq!(ids(&one), ["i-3"]);
    assert!(others.is_empty());
}

#[tokio::test]
async fn far_pages_of_a_long_list_are_found_by_marks() {
    const COUNT: i64 = 10_550;
    let world = World::sqlite().await;
    world.made("i-1").await;
    copy(&world, "i-1", COUNT).await;
    let (all, _) = exported(&world, &Caller::default(), RuntimesQuery::default()).await;
    let page = async |page| {
        let ask = RuntimesQuery { page, page_size: 70, ..RuntimesQuery::default() };
        world.broker.runtimes(&Caller::default(), &ask).await.unwrap()
    };

    for number in [1, 2, 14, 15, 16, 100, 150, 151, 152, 10_000] {
        let (from, found) = ((number as usize - 1) * 70, page(number).await);
        let expected = all.iter().skip(from).take(70).map(|it| it.instance_id.as_str());
        assert_eq!(ids(&found.data), expected.collect::<Vec<_>>(), "page {number}");
        assert_eq!(found.total_count, 10_551);
    }
    world.made("i-2").await;
    let (soon, last) = (page(1).await.total_count, page(151).await);
    world.clock.advance(Duration::from_mins(1));
    let later = page(1).await.total_count;

    assert_eq!((soon, later), (10_551, 10_552));
    assert_eq!(ids(&last.data).last(), Some(&"i-2"), "what is new is on the last page at once");
}

#[tokio::test]
async fn ten_thousand_runtimes_are_exported_in_pages_of_a_hundred() {
    const COUNT: i64 = 10_000;
    let world = World::sqlite().await;
    world.made("i-1").await;
    copy(&world, "i-1", COUNT).await;

    let (all, pages) = exported(&world, &Caller::default(), RuntimesQuery::default()).await;

    assert_eq!(all.len(), 10_001);
    assert_eq!(pages, 101);
    assert!(ids(&all).windows(2).all(|pair| pair[0] < pair[1] || pair[1] == "i-1"));
}
