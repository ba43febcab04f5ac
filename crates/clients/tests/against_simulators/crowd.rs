//! A thousand calls at once against a slow system: never more under way than the gate allows.

use std::{fs, time::Duration};

use base::Clock;
use clients::{CallLimits, director::Director};
use futures::future::join_all;
use simulators::{
    ledger::{Filter, Phase},
    trouble::{self, Rule},
};

use crate::world::{TENANT, World};

const CALLS: usize = 1_000;
const AT_ONCE: usize = 32;

/// The most memory that this process ever had, in kilobytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_thousand_calls_respect_the_limit_and_take_little_memory() {
    let world = World::at(Clock::running()).await;
    let limits =
        CallLimits { at_once: AT_ONCE, call: Duration::from_secs(120), ..CallLimits::DEFAULT };
    let director = Director::new(world.http(limits).with_token(world.tokens()));
    director.runtime(TENANT, "r").await.unwrap();
    let slow = trouble::Kind::Uneven { from_ms: 1, to_ms: 30 };
    world.troubles().add(Rule::next(CALLS as u64, slow).of("director")).unwrap();
    let before = peak();

    let reads = join_all((0..CALLS).map(|_| director.runtime(TENANT, "r"))).await;

    assert!(reads.iter().all(Result::is_ok));
    let filter = Filter { system: Some("director".into()), ..Filter::default() };
    let (mut under_way, mut most) = (0, 0);
    for line in world.running.landscape.ledger().all(&filter).unwrap() {
        match line.phase {
            Phase::Received => under_way += 1,
            Phase::Replied | Phase::Lost => under_way -= 1,
            Phase::Applied => {}
        }
        most = most.max(under_way);
    }
    assert_eq!((under_way, most), (0, AT_ONCE));
    let grown = peak() - before;
    assert!(grown < 64 * 1024, "{grown} kB for {CALLS} calls");
}
