//! Due operations are handed out once, and only to replicas that can work on them.

mod lanes;

use std::{collections::HashSet, ops::Deref};

use engine::{Storage, storage::ClaimRequest};
use futures::future::join_all;

use crate::bench::{Bench, KIND, after, new};

pub(crate) use lanes::{
    a_crowded_lane_is_passed_over, a_lone_operation_does_not_wait_behind_a_long_lane,
    many_lanes_take_turns, p19_lanes_share_fairly,
};

pub(crate) async fn p05_fifty_operations_ten_claimers_at_once_none_claimed_twice<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    for n in 0..50 {
        bench.accept(&format!("i{n}")).await;
    }

    let claims = join_all((0..10).map(|_| bench.claim(replica, 10))).await;

    let mut ids: Vec<_> = claims.into_iter().flatten().map(|held| held.id).collect();
    while let Some(rest) = Some(bench.claim(replica, 10).await).filter(|rest| !rest.is_empty()) {
        ids.extend(rest.into_iter().map(|held| held.id));
    }
    assert_eq!(ids.len(), 50);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 50);
}

pub(crate) async fn a_claim_tells_all_that_its_owner_needs<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let id = bench.accept("i").await;

    let held = bench.claim(replica, 1).await.remove(0);

    assert_eq!((held.id, held.root, held.epoch, held.serial), (id, id, 1, 0));
    assert_eq!((held.instance.as_str(), held.lane.as_str(), held.kind.as_str()), ("i", "a", KIND));
    assert_eq!((held.input.as_slice(), held.data.as_slice()), (&b"input"[..], &b"data"[..]));
    assert_eq!((held.due_at, held.created_at), (bench.clock.now(), bench.clock.now()));
    assert_eq!((held.runs, held.journal, held.data_version), (0, 2, 1));
    assert_eq!(held.position, engine::Position::beginning(Vec::new()));
}

pub(crate) async fn what_is_not_due_is_not_claimed_and_its_time_is_told<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let nothing = bench.ask(replica, 1, "", &[]).await;
    assert_eq!((nothing.operations.len(), nothing.next_due), (0, None));
    let held = bench.held(replica, "i").await;
    bench.commit(replica, bench.sleeps(&held, 5, None)).await;

    let early = bench.ask(replica, 1, "", &[]).await;
    bench.wait(5);
    let in_time = bench.claim(replica, 1).await;

    assert_eq!((early.operations.len(), early.next_due), (0, Some(bench.clock.now())));
    assert_eq!(in_time[0].id, held.id);
}

pub(crate) async fn p22_newer_versions_and_unknown_kinds_are_not_claimed<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let mut newer = new("i", "a");
    newer.data_version = 2;
    let newer = bench.accept_new(newer).await.0;
    let mut unknown = new("j", "a");
    unknown.kind = "other".into();
    bench.accept_new(unknown).await;
    assert!(bench.claim(replica, 10).await.is_empty());

    let kinds = [(KIND.to_owned(), 2)];
    let ask = ClaimRequest { replica, kinds: &kinds, room: 10, crowded: &[], after_lane: "" };
    let claimed = bench.store.claim(&ask).await.unwrap().operations;

    assert_eq!(claimed.iter().map(|held| held.id).collect::<Vec<_>>(), [newer]);
}

pub(crate) async fn a_claim_by_the_same_owner_keeps_the_epoch<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let commit = bench.sleeps(&held, 0, None);
    let landed = bench.commit(replica, commit.clone()).await;

    let again = bench.claim(replica, 1).await.remove(0);

    let mut expected = after(held, &commit, &landed);
    expected.due_at = again.due_at;
    assert_eq!(again, expected);
    assert_eq!((again.epoch, again.serial), (1, 1));
}

pub(crate) async fn a_replica_without_a_lease_is_given_nothing<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    bench.accept("i").await;
    bench.wait(10);

    assert!(bench.claim(replica, 10).await.is_empty());
    let replica = bench.join("r").await;
    assert_eq!(bench.claim(replica, 10).await.len(), 1);
}

/// On SQLite the second replica is the next start of the only process, so the first one is dead.
pub(crate) async fn sleepers_of_a_live_owner_are_left_to_it(bench: crate::bench::OnDatabase) {
    let owner = bench.join("owner").await;
    let held = bench.held(owner, "i").await;
    bench.commit(owner, bench.sleeps(&held, 1, None)).await;
    let other = bench.join("other").await;
    bench.wait(1);

    let taken = bench.claim(other, 10).await;

    assert_eq!(taken.len(), usize::from(bench.database.is_sqlite()));
    assert!(taken.iter().all(|held| held.epoch == 2));
}
