//! A thousand calls at once against a system that answers slowly: the ledger shows that it never has more than its limit.

use std::time::Duration;

use clients::CallLimits;
use futures::future::join_all;
use simulators::{
    ledger::{Filter, Phase},
    trouble::Kind as Trouble,
};

use super::{
    reconciler::cluster_in,
    world::{World, reconciler},
};

const CALLS: u64 = 1_000;
const AT_ONCE: u64 = 40;

#[tokio::test]
async fn a_slow_system_never_has_more_calls_than_its_limit() {
    let world = World::new().await;
    let limits = CallLimits { at_once: 40, call: Duration::from_mins(2), ..CallLimits::DEFAULT };
    let client = reconciler(world.url("/reconciler"), limits, &world.clock);
    client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();
    world.trouble("reconciler", "GET", CALLS, Trouble::Slow { delay_ms: 1_000 });
    let ledger = world.running.landscape.ledger();

    let calls = join_all((0..CALLS).map(|_| client.latest_status("r-1")));
    let time = async {
        let mut lines = ledger.last();
        loop {
            let sums = ledger.sums("reconciler");
            // Time goes on when as many calls wait as may, or all that are left.
            let (waiting, answered) = (sums.received - sums.replied, sums.replied - 1);
            if answered == CALLS {
                return;
            }
            if waiting == AT_ONCE.min(CALLS - answered) {
                world.clock.advance(Duration::from_secs(2));
            }
            lines.changed().await.unwrap();
        }
    };
    let (answers, ()) = tokio::join!(calls, time);

    assert!(answers.iter().all(Result::is_ok));
    let filter = Filter { system: Some("reconciler".into()), ..Filter::default() };
    let (mut waiting, mut most) = (0_u64, 0);
    for entry in ledger.all(&filter).unwrap() {
        match entry.phase {
            Phase::Received => waiting += 1,
            Phase::Replied | Phase::Lost => waiting -= 1,
            Phase::Applied => {}
        }
        most = most.max(waiting);
    }
    assert_eq!(most, AT_ONCE);
}
