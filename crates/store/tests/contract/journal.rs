//! Everything that happens to an operation is written down in the transaction that does it.

use std::ops::Deref;

use base::Failure;
use engine::{
    State, Storage,
    storage::{EntryEvent, Outcome},
};

use crate::bench::{Bench, after};

pub(crate) async fn p21_the_journal_tells_the_whole_story<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let before = bench.held(replica, "i").await;
    let id = bench.accept("i").await;
    bench.commit(replica, bench.ends(&before, State::Succeeded)).await;
    let held = bench.claim(replica, 1).await.remove(0);
    bench.wait(1);
    let mut fails = bench.sleeps(&held, 3, None);
    let run = fails.run.as_mut().unwrap();
    (run.outcome, run.failure) = (Outcome::Transient, Some(Failure::new("avs", "http", "down")));
    bench.commit(replica, fails.clone()).await;
    bench.wait_alive(replica, 3).await;
    let held = bench.claim(replica, 1).await.remove(0);
    bench.commit(replica, bench.ends(&held, State::Failed)).await;

    let journal = bench.store.journal(id).await.unwrap();

    let events: Vec<_> = journal.iter().map(|entry| (entry.seq, entry.event)).collect();
    assert_eq!(
        events,
        [
            (1, EntryEvent::Accepted),
            (2, EntryEvent::Admitted),
            (3, EntryEvent::Taken),
            (4, EntryEvent::Run),
            (5, EntryEvent::Run),
        ]
    );
    assert_eq!((journal[2].epoch, journal[2].replica), (1, Some(replica)));
    let failed = &journal[3];
    assert_eq!((failed.run, failed.times, failed.outcome), (Some(1), 1, Some(Outcome::Transient)));
    assert_eq!(failed.failure, fails.run.unwrap().failure);
    assert_eq!((failed.stage.as_deref(), failed.step.as_deref()), (Some("create"), Some("Ask")));
    assert_eq!(failed.then_step.as_deref(), Some("Check"));
    assert_eq!(failed.next_at, Some(bench.clock.now()));
    assert_eq!((journal[4].run, journal[4].state), (Some(2), State::Failed));
}

pub(crate) async fn repeated_waits_are_one_entry<S: Storage>(bench: impl Deref<Target = Bench<S>>) {
    let replica = bench.join("r").await;
    let mut held = bench.held(replica, "i").await;
    let mut waits = bench.sleeps(&held, 5, None);
    let began = bench.clock.now();
    for _ in 0..4 {
        let answer = bench.commit(replica, waits.clone()).await;
        held = after(held, &waits, &answer);
        bench.wait_alive(replica, 5).await;
        let again = bench.claim(replica, 1).await.remove(0);
        assert_eq!(again.journal, 3);
        waits = bench.sleeps(&again, 5, None);
        let run = waits.run.as_mut().unwrap();
        run.repeats = Some(again.journal);
        run.reason = Some(format!("the cluster is being made: {} %", again.runs));
    }

    let journal = bench.store.journal(held.id).await.unwrap();

    assert_eq!(journal.len(), 3);
    let waited = &journal[2];
    assert_eq!((waited.times, waited.run, waited.began_at), (4, Some(4), began));
    assert_eq!(waited.next_at, Some(bench.clock.now()));
    assert_eq!(waited.reason.as_deref(), Some("the cluster is being made: 3 %"));
    assert_eq!(bench.read(held.id).await.runs, 4);
}

pub(crate) async fn a_wait_after_something_else_is_a_new_entry<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    bench.commit(replica, bench.sleeps(&held, 0, None)).await;
    let held = bench.claim(replica, 1).await.remove(0);
    let cancel = engine::storage::Cancel { state: State::Canceled, reason: "enough".into() };
    bench.store.request_cancel(held.id, &cancel).await.unwrap();

    let mut waits = bench.sleeps(&held, 0, None);
    waits.run.as_mut().unwrap().repeats = Some(held.journal);
    bench.commit(replica, waits).await;

    let journal = bench.store.journal(held.id).await.unwrap();
    assert_eq!(journal.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(journal.iter().all(|entry| entry.times == 1));
}

pub(crate) async fn old_journals_are_trimmed_once<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let mut old = Vec::new();
    for n in 0..3 {
        let held = bench.held(replica, &format!("i{n}")).await;
        bench.commit(replica, bench.ends(&held, State::Succeeded)).await;
        old.push(held.id);
    }
    bench.wait(1);
    let before = bench.clock.now();
    let young = bench.held(replica, "young").await;
    bench.commit(replica, bench.ends(&young, State::Succeeded)).await;

    let first = bench.store.trim(before, 2).await.unwrap();
    let second = bench.store.trim(before, 2).await.unwrap();
    let third = bench.store.trim(before, 2).await.unwrap();

    assert_eq!((first, second, third), (2, 1, 0));
    for id in old {
        assert!(bench.store.journal(id).await.unwrap().is_empty());
    }
    assert_eq!(bench.store.journal(young.id).await.unwrap().len(), 3);
}
