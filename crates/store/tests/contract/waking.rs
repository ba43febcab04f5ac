//! Hints reach the process at once, and other processes soon.

use engine::{Storage as _, storage::Wake};
use store::{EngineStore, engine::Time};

use crate::bench::OnDatabase;

pub(crate) async fn accepting_and_signalling_wake_the_process(bench: OnDatabase) {
    let mut wakes = bench.store.wakes();

    bench.accept("i").await;
    bench.store.signal("runtime/1").await.unwrap();

    assert_eq!(wakes.recv().await.unwrap(), Wake::Due);
    while wakes.recv().await.unwrap() != Wake::Signal("runtime/1".into()) {}
}

/// There is no other process on SQLite.
pub(crate) async fn another_process_is_woken(bench: OnDatabase) {
    if bench.database.is_sqlite() {
        return;
    }
    let time = Time::Held(bench.clock.clone());
    let planted = engine::PlantedBug::Nothing;
    let other = EngineStore::new(bench.test.database().await, bench.sealer.clone(), time, planted);
    let mut wakes = other.wakes();
    // The first hint says that it listens.
    assert_eq!(wakes.recv().await.unwrap(), Wake::Due);

    bench.store.signal("runtime/1").await.unwrap();
    assert_eq!(wakes.recv().await.unwrap(), Wake::Signal("runtime/1".into()));
    bench.accept("i").await;
    assert_eq!(wakes.recv().await.unwrap(), Wake::Due);
}
