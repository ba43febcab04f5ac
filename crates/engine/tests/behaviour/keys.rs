//! Idempotency keys over a release that adds calls to a step.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use base::{Key, caller};
use engine::{
    Cx, Engine, Operation, Order, Plan, Step, StepError, StepResult, Storage as _, done,
    storage::Verdict, testing::SimulatedStore,
};

use crate::script::{Bench, settings};

/// An outside system that makes one thing for each key, and a step whose first run never hears of it.
#[derive(Default)]
struct Shop {
    made: Mutex<BTreeSet<String>>,
    calls: Mutex<usize>,
}

impl Shop {
    async fn make(&self) -> Result<(), StepError> {
        let make = async |call: Option<caller::Call>| {
            *self.calls.lock().unwrap() += 1;
            self.made.lock().unwrap().insert(call.unwrap().key);
        };
        Ok(caller::call(make).await?)
    }

    async fn look(&self) -> Result<(), StepError> {
        Ok(caller::call(async |_| ()).await?)
    }
}

struct Buying;

impl Operation for Buying {
    const KIND: &'static str = "buying";
    type Input = ();
    type Data = ();
    type Memory = ();
    type Env = Shop;
}

/// The step as a release had it in which calls had no names. Its process is killed before the result is stored.
struct Before;

impl Step<Buying> for Before {
    const NAME: &'static str = "Buy";

    async fn run(&self, cx: &mut Cx<'_, Buying>) -> StepResult {
        cx.env.make().await?;
        std::future::pending().await
    }
}

/// The same step, one release later: it looks first, and its order has a name.
struct After {
    key: Key,
}

impl Step<Buying> for After {
    const NAME: &'static str = "Buy";

    async fn run(&self, cx: &mut Cx<'_, Buying>) -> StepResult {
        cx.env.look().await?;
        self.key.scope(cx.env.make()).await?;
        done()
    }
}

/// Begins an operation with the older release, kills it in the middle and ends it with the newer one; how many things were
/// made, and by how many calls.
async fn things_made_over_a_release(key: Key) -> (usize, usize) {
    let (bench, shop) = (Bench::new(), Arc::new(Shop::default()));
    let order = Order::<Buying> {
        id: bench.id(),
        instance: "one".into(),
        lane: "tenant".into(),
        input: (),
        data: (),
        digest: None,
    };
    let id = order.id;
    bench.store.accept(order.encoded().unwrap(), &|_| Verdict::Queue).await.unwrap();

    let older = start(&bench, Before, &shop);
    while *shop.calls.lock().unwrap() == 0 {
        bench.clock.sleep(Duration::from_millis(20)).await;
    }
    older.kill();
    let _newer = start(&bench, After { key }, &shop);
    bench.succeeds(id).await;

    (shop.made.lock().unwrap().len(), *shop.calls.lock().unwrap())
}

fn start(bench: &Bench, step: impl Step<Buying>, shop: &Arc<Shop>) -> Engine<SimulatedStore> {
    let plan = Plan::within(Duration::from_secs(3600)).stage("buy").step(step);
    let line = Arc::new(bench.store.line(bench.clock.clone()));
    let engine = Engine::builder(line, bench.clock.clone(), settings());
    engine.serve(plan, shop.clone()).unwrap().start()
}

#[tokio::test(start_paused = true)]
async fn an_operation_begun_with_numbered_keys_goes_on_under_them() {
    let key = Key::named("order").formerly(1);

    assert_eq!(things_made_over_a_release(key).await, (1, 2));
}

#[tokio::test(start_paused = true)]
async fn an_order_that_gave_up_its_number_would_be_made_twice() {
    let key = Key::named("order");

    assert_eq!(things_made_over_a_release(key).await, (2, 2));
}
