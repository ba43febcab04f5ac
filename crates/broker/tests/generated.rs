//! The generated tests of every plan: each step twice, a crash at every point, every answer lost, each
//! step failing for good; all of it on the embedded database, a sample on PostgreSQL.

use std::{sync::Arc, time::Duration};

use base::Clock;
use broker::operations::demonstration::{self, Data, Demonstration, Env, Input};
use engine::testing::{Scenario, Setting, prove, prove_some};
use serde_json::Value;
use store::testing::{Sort, Trials};

/// A demonstration whose deliveries and inspections take a few polls.
struct Demonstrating;

impl Scenario for Demonstrating {
    type Operation = Demonstration;

    async fn fresh(&self, _: &Clock) -> Setting<Demonstration> {
        let few_seconds = Duration::from_secs(5);
        Setting {
            instance: "instance".into(),
            plan: demonstration::plan(Duration::from_secs(3600)),
            env: Arc::new(Env { delivery: few_seconds, inspection: few_seconds }),
            input: Input { ordered_by: "a test".into() },
            data: Data::default(),
            world: Box::new(|| Box::pin(std::future::ready(Value::Null))),
        }
    }

    fn comparable(&self, mut data: Value) -> Value {
        // When something happened depends on the crashes before it; that it happened does not.
        for time in ["parts_ordered_at", "inspection_asked_at"] {
            data[time] = Value::from(data[time].is_string());
        }
        data
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demonstration_ends_the_same_way_whatever_happens_on_sqlite() {
    let proof = prove(&Demonstrating, &Trials::<()>::on(Sort::Sqlite)).await;

    assert!(proof.crashes > 30, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demonstration_ends_the_same_way_whatever_happens_on_postgres() {
    let proof = prove_some(&Demonstrating, &Trials::<()>::on(Sort::Postgres), 5).await;

    assert!(proof.crashes > 6, "{proof:?}");
}
