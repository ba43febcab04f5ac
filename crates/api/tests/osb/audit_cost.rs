//! What the audit costs: the same orders with it and without it. A measurement, not a promise.

use std::time::{Duration, Instant};

use futures::{StreamExt as _, stream};
use store::testing::TestDatabase;

use crate::{
    real::{Real, order},
    service::WAITING,
};

const ORDERS: u32 = 200;
const ROUNDS: u32 = 3;

/// The time that orders take, so many at once.
async fn time(real: &Real, round: u32, at_once: usize) -> Duration {
    let began = Instant::now();
    let orders = stream::iter(0..ORDERS).map(|number| async move {
        let path = format!("/oauth/v2/service_instances/i-{round}-{at_once}-{number}?{WAITING}");
        assert_eq!(real.service.put(&path, &order()).await.status, 202);
    });
    orders.buffer_unordered(at_once).collect::<Vec<()>>().await;
    began.elapsed()
}

/// `cargo test --workspace --all-features --test osb -- --ignored --nocapture what_the_audit_costs`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: it prints figures and asserts nothing about them"]
async fn what_the_audit_costs() {
    for name in ["sqlite", "postgres"] {
        let database = async || match name {
            "sqlite" => TestDatabase::sqlite(),
            _ => TestDatabase::postgres().await,
        };
        let plain = Real::on(database().await, false).await;
        let audited = Real::on(database().await, true).await;
        for at_once in [1, 16] {
            let (mut without, mut with) = (Duration::ZERO, Duration::ZERO);
            // In turns, so that what else the machine does meets both.
            for round in 0..ROUNDS {
                without += time(&plain, round, at_once).await;
                with += time(&audited, round, at_once).await;
            }
            let each = |all: Duration| all.as_secs_f64() * 1_000.0 / f64::from(ORDERS * ROUNDS);
            println!(
                "{name}, {at_once} at once: {:.2} ms per order without, {:.2} ms with the audit, ratio {:.2}",
                each(without),
                each(with),
                with.as_secs_f64() / without.as_secs_f64(),
            );
        }
    }
}
