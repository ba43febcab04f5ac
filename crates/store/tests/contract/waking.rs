//! Hints reach the process at once, and other processes soon.

use engine::{
    State, Storage as _,
    storage::{Cancel, Wake},
};
use store::{
    EngineStore,
    engine::{ChangedElsewhere, ChangedOperation, Time},
};

use crate::bench::{OnDatabase, new, queue};

pub(crate) async fn accepting_and_signalling_wake_the_process(bench: OnDatabase) {
    let mut wakes = bench.store.wakes();

    bench.accept("i").await;
    bench.store.signal("runtime/1").await.unwrap();

    assert_eq!(wakes.recv().await.unwrap(), Wake::Due);
    while wakes.recv().await.unwrap() != Wake::Signal("runtime/1".into()) {}
}

/// Another process on the same database.
async fn other_process(bench: &OnDatabase) -> EngineStore {
    let time = Time::Held(bench.clock.clone());
    let planted = engine::PlantedBug::Nothing;
    EngineStore::new(bench.test.database().await, bench.sealer.clone(), time, planted)
}

/// There is no other process on SQLite.
pub(crate) async fn another_process_is_woken(bench: OnDatabase) {
    if bench.database.is_sqlite() {
        return;
    }
    let other = other_process(&bench).await;
    let mut wakes = other.wakes();
    // The first hint says that it listens.
    assert_eq!(wakes.recv().await.unwrap(), Wake::Due);

    bench.store.signal("runtime/1").await.unwrap();
    assert_eq!(wakes.recv().await.unwrap(), Wake::Signal("runtime/1".into()));
    bench.accept("i").await;
    assert_eq!(wakes.recv().await.unwrap(), Wake::Due);
}

pub(crate) async fn another_process_gets_the_operations_that_have_changed(bench: OnDatabase) {
    let mut own = bench.store.changed_elsewhere();
    if bench.database.is_sqlite() {
        bench.accept("i").await;
        assert!(own.is_empty());
        return;
    }
    let other = other_process(&bench).await;
    let mut changes = other.changed_elsewhere();
    // The first one says that it listens.
    assert_eq!(*changes.recv().await.unwrap(), ChangedElsewhere::Any);
    let named = |operation, instance: Option<&str>| {
        let instance = instance.map(str::to_owned);
        ChangedElsewhere::Operations(vec![ChangedOperation { operation, instance }])
    };

    let id = bench.accept("i").await;
    assert_eq!(*changes.recv().await.unwrap(), named(id, Some("i")));
    let replica = bench.join("r").await;
    let held = bench.claim(replica, 1).await;
    bench.commit(replica, bench.done(&held[0])).await;
    assert_eq!(*changes.recv().await.unwrap(), named(id, Some("i")));
    let cancel = Cancel { state: State::Canceled, reason: "why".into() };
    assert!(bench.store.request_cancel(id, &cancel).await.unwrap());
    assert_eq!(*changes.recv().await.unwrap(), named(id, None));

    // Its own changes are no news to it: they would come before this one.
    let theirs = new("j", "lane");
    let id = theirs.id;
    other.accept(theirs, &queue).await.unwrap();
    let mut received = own.recv().await.unwrap();
    if *received == ChangedElsewhere::Any {
        received = own.recv().await.unwrap();
    }
    assert_eq!(*received, named(id, Some("j")));
}
