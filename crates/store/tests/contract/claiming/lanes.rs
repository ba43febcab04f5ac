//! Lanes share what is handed out: fairly, in turns, and none waits behind another.

use std::ops::Deref;

use engine::Storage;
use futures::future::join_all;

use crate::bench::{Bench, new};

pub(crate) async fn p19_lanes_share_fairly<S: Storage>(bench: impl Deref<Target = Bench<S>>) {
    let replica = bench.join("r").await;
    for n in 0..40 {
        bench.accept_new(new(&format!("big{n}"), "big")).await;
    }
    for n in 0..3 {
        bench.accept_new(new(&format!("small{n}"), "small")).await;
    }

    let claimed = bench.claim(replica, 6).await;

    let small = claimed.iter().filter(|held| held.lane == "small").count();
    assert_eq!((claimed.len(), small), (6, 3));
}

pub(crate) async fn many_lanes_take_turns<S: Storage>(bench: impl Deref<Target = Bench<S>>) {
    let replica = bench.join("r").await;
    for n in 0..10 {
        for lane in ["a", "b", "c", "d", "e"] {
            bench.accept_new(new(&format!("{lane}{n}"), lane)).await;
        }
    }

    let mut served = Vec::new();
    let mut last = String::new();
    for _ in 0..10 {
        let claimed = bench.ask(replica, 2, &last, &[]).await;
        served.extend(claimed.operations.into_iter().map(|held| held.lane));
        last = claimed.last_lane;
    }

    for lane in ["a", "b", "c", "d", "e"] {
        assert_eq!(served.iter().filter(|served| *served == lane).count(), 4, "{lane}");
    }
}

pub(crate) async fn a_crowded_lane_is_passed_over<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    bench.accept_new(new("i", "a")).await;
    bench.accept_new(new("j", "b")).await;

    let claimed = bench.ask(replica, 10, "", &["a".to_owned()]).await;

    assert_eq!(claimed.operations.len(), 1);
    assert_eq!(claimed.operations[0].lane, "b");
}

pub(crate) async fn a_lone_operation_does_not_wait_behind_a_long_lane<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let long = join_all((0..300).map(|n| bench.accept_new(new(&format!("m{n}"), "m")))).await;
    assert_eq!(long.len(), 300);
    let (before, _) = bench.accept_new(new("lone1", "a")).await;
    let (behind, _) = bench.accept_new(new("lone2", "z")).await;

    let claimed = bench.ask(replica, 3, "m", &[]).await;

    let mut given: Vec<_> = claimed.operations.iter().map(|held| held.lane.as_str()).collect();
    given.sort_unstable();
    assert_eq!(given, ["a", "m", "z"]);
    assert!(claimed.operations.iter().any(|held| held.id == before));
    assert!(claimed.operations.iter().any(|held| held.id == behind));
    assert_eq!(claimed.last_lane, "m");
}
