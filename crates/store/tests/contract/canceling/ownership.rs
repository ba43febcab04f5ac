//! What a replica learns of operations that are not its own any more.

use std::ops::Deref;

use base::Failure;
use engine::{OperationId, Storage, storage::Heart as _};

use crate::bench::{Bench, LEASE};

pub(crate) async fn a_replica_is_told_what_it_does_not_own_any_more<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let (kept, lost) = (bench.held(replica, "i").await, bench.held(replica, "j").await);
    let in_hand = [(kept.id, kept.epoch), (lost.id, lost.epoch)];
    let mut heart = bench.store.heart().await.unwrap();
    assert_eq!(bench.store.lost(replica, &in_hand).await.unwrap(), []);
    assert_eq!(heart.lost(replica, &in_hand).await.unwrap(), []);

    let failure = Failure::new("engine", "abandoned", "it hangs");
    assert!(bench.store.abandon(lost.id, &failure).await.unwrap());

    assert_eq!(bench.store.lost(replica, &in_hand).await.unwrap(), [(lost.id, lost.epoch)]);
    assert_eq!(heart.lost(replica, &in_hand).await.unwrap(), [(lost.id, lost.epoch)]);
    let unknown = (OperationId::new_v4(), 1);
    let older = (kept.id, kept.epoch - 1);
    assert_eq!(bench.store.lost(replica, &[unknown, older]).await.unwrap(), [unknown, older]);
    let other = bench.join("another").await;
    assert_eq!(bench.store.lost(other, &in_hand[..1]).await.unwrap(), [in_hand[0]]);
    assert_eq!(bench.store.lost(replica, &[]).await.unwrap(), []);
}

pub(crate) async fn what_an_owner_without_a_lease_held_is_gone_at_once<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let next = bench.accept("i").await;
    bench.clock.advance(2 * LEASE);
    let failure = Failure::new("engine", "abandoned", "it hangs");

    assert!(bench.store.abandon(held.id, &failure).await.unwrap());

    assert_eq!(bench.read(next).await.due_at, Some(bench.clock.now()));
}

pub(crate) async fn p29_a_heartbeat_beside_an_abandonment_is_waited_for_or_finds_it<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let mut heart = bench.store.heart().await.unwrap();
    let failure = Failure::new("engine", "abandoned", "it hangs");
    for round in 0..100 {
        let instance = format!("i{round}");
        let held = bench.held(replica, &instance).await;
        let next = bench.accept(&instance).await;
        bench.wait(1);
        let in_hand = [(held.id, held.epoch)];
        let beat = async {
            assert!(heart.beat(replica, LEASE).await.unwrap().alive);
            heart.lost(replica, &in_hand).await.unwrap()
        };

        let (lost, ended) = futures::join!(beat, bench.store.abandon(held.id, &failure));

        assert!(ended.unwrap());
        let due = bench.read(next).await.due_at;
        let waits = due == Some(bench.clock.now() + LEASE);
        assert!(waits || lost == in_hand, "in round {round}: {due:?}, {lost:?}");
        assert!(bench.store.abandon(next, &failure).await.unwrap());
    }
}
