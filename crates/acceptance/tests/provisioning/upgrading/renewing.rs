//! The hold of a maintenance is renewed beside the calls that end it, and neither stops the other.

use std::time::Duration;

use base::Clock;
use serde_json::Value;
use simulators::trouble::{Kind, Rule};
use store::on;

use super::{cluster, views::evaluations};
use crate::{
    orders::OrderSpec,
    outside::Outside,
    test_broker::{Broker, EndedOperation},
};

/// A maintenance that is being ended: its first call is answered late, and until then the database can be disturbed.
struct Ending {
    outside: Outside,
    broker: Broker,
    made: EndedOperation,
    time: Clock,
    ended: tokio::task::JoinHandle<Result<usize, store::Error>>,
}

impl Ending {
    async fn begun() -> Self {
        let outside = Outside::start(&["aws"], 1).await;
        let broker = Broker::start(&outside).await;
        let made = broker.provision(&outside, &OrderSpec::aws("renewing")).await.succeeded();
        Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
        outside.meet(Rule::next(1, Kind::Slow { delay_ms: 1_000 }).of("avs"));
        let time = Clock::held_at(broker.clock.now());
        let ending = broker.maintenance_ending(&outside, &time).await;
        let ended = tokio::spawn(async move { ending.end_due().await });
        while broker.due_maintenances(time.now()).await > 0 {
            tokio::task::yield_now().await;
        }
        Self { outside, broker, made, time, ended }
    }

    /// Lets time go on until there is something to renew, and waits until this is so.
    async fn until(&self, is_so: impl Fn(&Self) -> bool) -> bool {
        for round in 0..2_000 {
            if is_so(self) {
                return true;
            }
            if round < 20 {
                self.time.advance(Duration::from_secs(1));
            }
            self.broker.clock.sleep(Duration::from_millis(5)).await;
        }
        false
    }

    fn evaluations(&self) -> Vec<Value> {
        evaluations(&self.outside, &self.made.details)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_waits_for_the_database_does_not_stop_the_calls() {
    let ending = Box::pin(Ending::begun()).await;
    // SQLite has one writer.
    let writing = ending.broker.store.engine().database().begin().await.unwrap();

    let restored = ending.until(|ending| ending.evaluations() == ["ACTIVE", "ACTIVE"]).await;
    writing.rollback().await.unwrap();

    assert!(restored);
    assert_eq!(ending.ended.await.unwrap().unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_fails_does_not_end_a_hold_that_has_time_left() {
    const REFUSED: &str = "
        CREATE TRIGGER refused BEFORE UPDATE OF due_at ON maintenances
        WHEN NEW.evaluations = OLD.evaluations
        BEGIN SELECT RAISE(ABORT, 'refused by a test'); END";
    const ALLOWED: &str = "DROP TRIGGER refused";
    let ending = Box::pin(Ending::begun()).await;
    let database = ending.broker.store.engine().database().clone();
    on!(database.writer(), |pool| sqlx::query(REFUSED).execute(pool).await.map(drop)).unwrap();

    assert!(ending.until(|ending| ending.ended.is_finished()).await);

    assert_eq!(ending.evaluations(), ["ACTIVE", "ACTIVE"]);
    // That they are restored is stored. The announcement could not be taken.
    let Ending { outside, broker, time, ended, .. } = ending;
    assert_eq!(ended.await.unwrap().unwrap(), 0);
    on!(database.writer(), |pool| sqlx::query(ALLOWED).execute(pool).await.map(drop)).unwrap();
    let other = broker.maintenance_ending(&outside, &time).await;
    assert_eq!(other.end_due().await.unwrap(), 1);
}
