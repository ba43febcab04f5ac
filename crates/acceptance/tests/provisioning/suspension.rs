//! Suspension and return in any order, with removals and crashes in between: never a cluster without an instance, and the
//! instance ends as it was asked for last.

use std::{sync::Arc, time::Duration};

use broker::{
    Order,
    catalog::Offer,
    instances::{self, Caller, Deprovision, Parts, Settings, SuspensionPlans},
};
use store::{engine::Filter, testing::TestDatabase};

use crate::{orders::OrderSpec, outside::Outside, test_broker::Broker, view::View};

/// Requests of a platform, and faults of the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Suspend,
    Return,
    Remove,
    Crash,
}

use Event::{Crash, Remove, Return, Suspend};

/// The use cases on the database of a broker.
pub(crate) fn use_cases(outside: &Outside, broker: &Broker) -> instances::Broker {
    use_cases_suspending(outside, broker, SuspensionPlans::default())
}

/// The same, where the platform suspends instances of these plans.
pub(crate) fn use_cases_suspending(
    outside: &Outside,
    broker: &Broker,
    suspension: SuspensionPlans,
) -> instances::Broker {
    instances::Broker::new(Parts {
        store: broker.store.clone(),
        operations: broker.store.engine().clone(),
        shapes: broker.engine.shapes(),
        catalog: outside.catalog.clone(),
        offer: Offer::default(),
        accounts: None,
        settings: Settings {
            dashboard: "https://dashboard.test".into(),
            shoot_domain: "kyma.test".into(),
            kubeconfig_label: None,
            trial_notice: None,
            legacy: None,
            suspension,
        },
        clock: outside.clock.clone(),
    })
}

/// Whether it is accepted.
async fn ask(outside: &Outside, broker: &Broker, order: &Order, event: Event) -> bool {
    let (use_cases, caller) = (use_cases(outside, broker), Caller::default());
    let id = &order.instance_id;
    match event {
        Suspend => use_cases.suspend(&caller, id).await.is_ok(),
        Return => use_cases.unsuspend(&caller, id).await.is_ok(),
        Remove => {
            let request = Deprovision {
                instance_id: id.clone(),
                service_id: order.service_id.clone(),
                plan_id: order.plan_id.clone(),
                accepts_incomplete: true,
            };
            use_cases.deprovision(&caller, request).await.is_ok()
        }
        Crash => false,
    }
}

/// Waits until all operations of the instance have ended.
pub(crate) async fn settled(outside: &Outside, broker: &Broker, order: &Order) {
    let instance = Some(order.instance_id.clone());
    for _ in 0..60_000 {
        let filter = Filter { instance: instance.clone(), most: 100, ..Filter::default() };
        let page = broker.store.engine().list(&filter).await.unwrap();
        if page.operations.iter().all(|it| it.state.is_final()) {
            return;
        }
        outside.clock.sleep(Duration::from_millis(5)).await;
    }
    panic!("operations of {} do not end", order.instance_id);
}

/// Waits until so many steps more were done, or nothing happens any more.
async fn steps(broker: &Broker, many: usize) {
    let mut events = broker.engine.events();
    for _ in 0..many {
        if tokio::time::timeout(Duration::from_millis(100), events.recv()).await.is_err() {
            return;
        }
    }
}

async fn goes(
    outside: &Outside,
    mut broker: Broker,
    mark: &str,
    events: &[Event],
    seed: usize,
) -> Broker {
    let (order, _) = broker.order(outside, &OrderSpec::aws(mark)).await;
    let mut last = Return;
    for (at, event) in events.iter().enumerate() {
        steps(&broker, (seed * 7 + at * 5) % 23).await;
        if *event == Crash {
            broker = broker.killed_and_started(outside).await;
        } else if ask(outside, &broker, &order, *event).await {
            last = *event;
        }
    }
    settled(outside, &broker, &order).await;

    let row = broker.store.find(&order.instance_id).await.unwrap();
    let left = View::of(outside, &broker.store, &order).left().await;
    let count = |what: &str| left.iter().filter(|it| *it == what).count();
    let (shoots, registrations) = (count("Shoot"), count("registration"));
    match last {
        Return => {
            assert!(row.unwrap().runtime_id.is_some(), "{events:?}");
            assert_eq!((shoots, registrations), (1, 1), "{events:?}: {left:?}");
        }
        Suspend => {
            let row = row.unwrap();
            assert_eq!((row.runtime_id, row.shoot_name), (None, order.shoot_name), "{events:?}");
            assert_eq!((shoots, registrations), (0, 0), "{events:?}: {left:?}");
        }
        Remove | Crash => assert_eq!(left, Vec::<String>::new(), "{events:?}"),
    }
    broker
}

/// Every order of these events that is not too long, and which of them.
fn orders() -> Vec<Vec<Event>> {
    let mut all = vec![
        vec![Suspend],
        vec![Suspend, Return],
        vec![Suspend, Crash, Return, Crash],
        vec![Suspend, Return, Suspend, Return],
        vec![Return, Suspend, Remove],
        vec![Suspend, Return, Crash, Remove],
    ];
    let mut random = fastrand::Rng::with_seed(15);
    for _ in 0..10 {
        let one = |random: &mut fastrand::Rng| {
            [Suspend, Return, Suspend, Return, Crash, Remove][random.usize(..6)]
        };
        all.push((0..5).map(|_| one(&mut random)).collect());
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn in_whatever_order_it_is_asked_no_cluster_is_left_without_its_instance() {
    all_go(&orders(), TestDatabase::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_whatever_order_it_is_asked_no_cluster_is_left_without_its_instance_on_postgres() {
    all_go(&orders()[2..9], TestDatabase::postgres().await).await;
}

async fn all_go(orders: &[Vec<Event>], database: TestDatabase) {
    let outside = Arc::new(Outside::start(&["aws"], orders.len()).await);
    let mut broker = Box::pin(Broker::start_on(&outside, database)).await;

    for (at, events) in orders.iter().enumerate() {
        broker = Box::pin(goes(&outside, broker, &format!("s{at}"), events, at)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_instance_comes_back_under_its_names_on_another_cluster() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("back")).await.completed();
    let before = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();

    assert!(ask(&outside, &broker, &made.order, Suspend).await);
    settled(&outside, &broker, &made.order).await;
    let view = View::of(&outside, &broker.store, &made.order);
    let asleep = view.left().await;
    assert!(ask(&outside, &broker, &made.order, Return).await);
    settled(&outside, &broker, &made.order).await;

    let after = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();
    assert!(asleep.iter().all(|it| it == "row" || it.starts_with("account")), "{asleep:?}");
    assert!(asleep.len() == 2, "the account is kept: {asleep:?}");
    assert_eq!((after.shoot_name, after.order), (before.shoot_name, before.order));
    assert!(after.runtime_id.is_some() && after.runtime_id != before.runtime_id);
}
