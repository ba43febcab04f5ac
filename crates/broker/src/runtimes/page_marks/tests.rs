//! A long list is counted by one request at a time, and keeps the marks that others use.

use base::Clock;
use store::{
    BrokerStore,
    testing::{PreparedDatabase, Sort},
};

use super::*;
use crate::{
    catalog::{Catalog, Offer},
    instances::{Parts, Settings, SuspensionPlans},
};

struct World {
    broker: Broker,
    clock: Clock,
    list: Arc<LongList>,
    _database: PreparedDatabase<BrokerStore>,
}

impl World {
    /// A list that was counted with these marks just now.
    async fn counted(marks: Option<Marks>) -> Self {
        let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
        let database = PreparedDatabase::<BrokerStore>::held(Sort::Sqlite, &clock).await;
        let (store, operations) = database.open().await;
        let broker = Broker::new(Parts {
            store,
            operations,
            shapes: Vec::new(),
            catalog: Arc::new(Catalog::embedded().unwrap()),
            offer: Offer::default(),
            accounts: None,
            settings: Settings {
                legacy: None,
                suspension: SuspensionPlans::default(),
                dashboard: "https://dashboard.test".into(),
                shoot_domain: "kyma.test".into(),
                kubeconfig_label: None,
                trial_notice: None,
            },
            clock: clock.clone(),
        });
        let list = broker.numbered().find_or_add(Content::Rows(Box::default()));
        list.keep(Arc::new(CachedCount { total: 1_234, marks, at: clock.monotonic() }));
        Self { broker, clock, list, _database: database }
    }

    fn age(&self) -> Duration {
        self.list.last(false, self.clock.monotonic()).unwrap().1
    }

    fn has_marks(&self) -> bool {
        self.list.last(true, self.clock.monotonic()).is_some()
    }
}

#[tokio::test]
async fn requests_for_a_list_that_is_being_counted_leave_no_count_behind() {
    let world = World::counted(None).await;
    let users = Arc::strong_count(&world.list);
    world.clock.advance(FRESH);

    let counting = world.list.counting.lock().await;
    for _ in 0..5 {
        let counted = world.broker.counted(&world.list, false).await.unwrap();
        assert_eq!(counted.total, 1_234);
    }
    // On one thread, all tasks run before this one goes on.
    tokio::task::yield_now().await;

    assert_eq!(Arc::strong_count(&world.list), users, "tasks wait for the count");
    drop(counting);
    assert_eq!(world.age(), FRESH);
}

#[tokio::test]
async fn a_list_that_nobody_counts_is_counted_in_the_background() {
    let world = World::counted(None).await;
    world.clock.advance(FRESH);

    let counted = world.broker.counted(&world.list, false).await.unwrap();

    assert_eq!(counted.total, 1_234, "the request does not wait");
    for _ in 0..1_000 {
        if world.age() == Duration::ZERO {
            break;
        }
        Clock::running().sleep(Duration::from_millis(10)).await;
    }
    let counted = world.broker.counted(&world.list, false).await.unwrap();
    assert_eq!(counted.total, 0);
}

#[tokio::test]
async fn marks_are_kept_by_a_count_that_needs_none_until_they_are_not_used_any_more() {
    let world = World::counted(Some(Marks::Rows(Vec::new()))).await;
    world.clock.advance(FRESH);

    world.broker.count_held(&world.list, false).await.unwrap();

    assert!(world.has_marks());
    assert_eq!(world.age(), Duration::ZERO);
    world.clock.advance(USABLE);
    world.broker.count_held(&world.list, false).await.unwrap();
    assert!(!world.has_marks());
}
