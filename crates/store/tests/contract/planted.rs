//! The checks can fail: with a bug planted in the store, what they promise is broken.

use engine::{PlantedBug, State, Storage as _, storage::EntryEvent};
use store::on;

use crate::{
    bench::{OnDatabase, after, landed, new},
    committing::stale,
};

pub(crate) async fn p06_is_red_without_the_fence(on: OnDatabase) {
    let bench = on.with(PlantedBug::NoFence);
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;

    for stale in stale(&bench.done(&held)) {
        assert!(landed(&bench.commit(replica, stale).await));
    }
    bench.wait(10);
    assert!(landed(&bench.commit(engine::ReplicaId::new_v4(), bench.done(&held)).await));
}

pub(crate) async fn p20_is_red_when_a_final_state_can_be_overwritten(on: OnDatabase) {
    let bench = on.with(PlantedBug::FinalOverwritten);
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let end = bench.ends(&held, State::Succeeded);
    let answer = bench.commit(replica, end.clone()).await;
    let held = after(held, &end, &answer);

    assert!(landed(&bench.commit(replica, bench.ends(&held, State::Failed)).await));

    assert_eq!(bench.read(held.id).await.state, State::Failed);
}

pub(crate) async fn p04_is_red_without_the_index(on: OnDatabase) {
    const DROP: &str = "DROP INDEX operations_one_running";
    on!(on.database.writer(), |pool| sqlx::query(DROP).execute(pool).await.map(drop)).unwrap();
    let bench = on.with(PlantedBug::ManyRunning);
    let replica = bench.join("r").await;

    bench.accept("i").await;
    bench.accept("i").await;

    assert_eq!(bench.claim(replica, 10).await.len(), 2);
}

pub(crate) async fn p21_is_red_when_takeovers_go_unrecorded(on: OnDatabase) {
    let bench = on.with(PlantedBug::TakeoverUnrecorded);
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;

    let journal = bench.store.journal(held.id).await.unwrap();

    assert_eq!(held.epoch, 1);
    assert!(journal.iter().all(|entry| entry.event != EntryEvent::Taken));
}

pub(crate) async fn p22_is_red_when_anything_can_be_claimed(on: OnDatabase) {
    let bench = on.with(PlantedBug::ClaimsAnything);
    let replica = bench.join("r").await;
    let mut unknown = new("i", "a");
    (unknown.kind, unknown.data_version) = ("other".into(), 99);
    bench.accept_new(unknown).await;

    assert_eq!(bench.claim(replica, 10).await.len(), 1);
}

pub(crate) async fn p24_is_red_when_a_transaction_is_left_open(on: OnDatabase) {
    // Given the bug, which the store takes over from the planted value.
    let _with_bug = on.with(PlantedBug::TransactionLeftOpen);

    let lost = if on.database.is_sqlite() {
        crate::dropping::fail_commits(&on).await
    } else {
        crate::dropping::drop_at_every_await(&on, 50).await
    };

    assert!(lost > 0, "all writes after it are committed in spite of the bug");
}

pub(crate) async fn orphans_are_admitted_at_recovery_unless_forgotten(on: OnDatabase) {
    const ORPHAN: &str = "UPDATE operations SET due_at = NULL WHERE id = $1";
    let replica = on.join("r").await;
    let orphan = on.accept("i").await;
    on!(on.database.writer(), |pool| sqlx::query(ORPHAN)
        .bind(orphan)
        .execute(pool)
        .await
        .map(drop))
    .unwrap();

    on.with(PlantedBug::PendingForgotten).store.reap().await.unwrap();
    assert!(on.claim(replica, 10).await.is_empty());
    on.store.reap().await.unwrap();

    let held = on.claim(replica, 10).await.remove(0);
    assert_eq!(held.id, orphan);
}
