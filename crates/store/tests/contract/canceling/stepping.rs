//! Waking an operation that waits, and skipping a step of it.

use std::ops::Deref;

use engine::{
    OperationId, Storage,
    storage::{Skip, Wake},
};

use super::call_off;
use crate::bench::Bench;

pub(crate) async fn a_signal_wakes_those_who_wait_for_it<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let mut wakes = bench.store.wakes();
    let waits = bench.held(replica, "i").await;
    let waits_for_another = bench.held(replica, "j").await;
    bench.commit(replica, bench.sleeps(&waits, 1000, Some("runtime/1"))).await;
    bench.commit(replica, bench.sleeps(&waits_for_another, 1000, Some("runtime/2"))).await;

    bench.store.signal("runtime/1").await.unwrap();

    let woken = bench.claim(replica, 10).await;
    assert_eq!(woken.iter().map(|held| held.id).collect::<Vec<_>>(), [waits.id]);
    while wakes.recv().await.unwrap() != Wake::Signal("runtime/1".into()) {}
}

fn pass_over(stage: &str) -> Skip {
    Skip { stage: stage.into(), step: "Ask".into(), reason: "it never comes".into() }
}

pub(crate) async fn skipping_a_step_of_a_sleeping_operation_makes_it_due<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    bench.commit(replica, bench.sleeps(&held, 1000, None)).await;
    let stage = bench.read(held.id).await.stage.unwrap();

    assert!(bench.store.request_skip(held.id, &pass_over(&stage)).await.unwrap());
    assert!(!bench.store.request_skip(held.id, &pass_over("another")).await.unwrap());

    let woken = bench.claim(replica, 1).await.remove(0);
    assert_eq!((woken.id, woken.skip), (held.id, Some(pass_over(&stage))));
    assert_eq!(bench.read(held.id).await.skip, Some(pass_over(&stage)));
    let another = Skip { step: "Check".into(), ..pass_over(&stage) };
    assert!(bench.store.request_skip(held.id, &another).await.unwrap());
    let both = bench.read(held.id).await.skip.unwrap();
    assert!(both.is_of(&stage, "Ask") && both.is_of(&stage, "Check"), "{both:?}");
    assert!(!both.is_of(&stage, "Other") && !both.is_of("another", "Ask"), "{both:?}");
}

pub(crate) async fn a_step_of_an_operation_that_ends_cannot_be_skipped<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    bench.commit(replica, bench.sleeps(&held, 1000, None)).await;
    let stage = bench.read(held.id).await.stage.unwrap();
    bench.store.request_cancel(held.id, &call_off()).await.unwrap();

    assert!(!bench.store.request_skip(held.id, &pass_over(&stage)).await.unwrap());
    assert!(!bench.store.request_skip(OperationId::new_v4(), &pass_over(&stage)).await.unwrap());

    assert_eq!(bench.read(held.id).await.skip, None);
}
