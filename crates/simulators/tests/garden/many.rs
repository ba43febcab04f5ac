//! Many Shoots at once, without a lost event. `KCP_SHOOTS=1000` makes them more.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
};

use futures::{StreamExt, stream};
use serde_json::Value;
use simulators::pace::Speed;

use crate::support::{Garden, shoot};

fn size() -> usize {
    env::var("KCP_SHOOTS").ok().and_then(|text| text.parse().ok()).unwrap_or(50)
}

/// How much memory this process holds, and how much it ever did.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines =
        status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(", ")
}

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap().to_owned()
}

/// One event: what, whose, and its version.
type Line = (String, String, u64);

/// The lines of all events until so many Shoots have come to an end.
async fn lines(
    garden: &Garden,
    version: String,
    ended: impl Fn(&str, &Value) -> bool,
) -> Vec<Line> {
    let (mut lines, mut done) = (Vec::new(), BTreeSet::new());
    garden
        .follow(version, |what, shoot| {
            if ended(&what, &shoot) {
                done.insert(name(&shoot));
            }
            lines.push((what, name(&shoot), self::version(&shoot)));
            done.len() == size()
        })
        .await;
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn many_shoots_come_and_go_and_no_event_is_lost() {
    let garden = Garden::anywhere(Speed::MAX).await;
    let all = size();
    let _controller = garden.controller();
    let begin = garden.version().await;
    let started = garden.clock.monotonic();
    let deleted = |what: &str, _: &Value| what == "DELETED";
    let healthy = |_: &str, shoot: &Value| crate::support::health(shoot) == "healthy";
    let names: Vec<String> = (0..all).map(|n| format!("m-{n}")).collect();

    let watching = lines(&garden, begin.clone(), deleted);
    let working = async {
        let create = async |name: &String| drop(garden.create(&shoot(name)).await);
        stream::iter(&names).for_each_concurrent(16, create).await;
        lines(&garden, begin.clone(), healthy).await;
        let created = garden.clock.monotonic().saturating_sub(started);
        let (there, held) = (garden.runtimes.count(), memory());
        stream::iter(&names).for_each_concurrent(16, async |name| garden.delete(name).await).await;
        (created, there, held)
    };
    let (seen, (created, there, held)) = futures::join!(watching, working);
    let took = garden.clock.monotonic().saturating_sub(started);
    let again = lines(&garden, begin, deleted).await;

    println!(
        "{all} shoots: created after {created:.1?} ({held}), deleted after {took:.1?} ({}), {} events",
        memory(),
        seen.len()
    );
    assert_eq!((there, garden.runtimes.count()), (all, 0));
    assert_eq!(seen, again);
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, name, version) in &seen {
        let before = last.insert(name, *version);
        assert!(before.is_none_or(|before| before < *version), "{name} went back");
    }
    assert!(names.iter().all(|name| garden.runtimes.made(name) == 1));
}
