//! A step's changes to other rows land with its result, or not at all.

use std::sync::Arc;

use engine::{
    PlantedBug, Storage,
    storage::{Acceptance, Change, CommitResult},
};
use futures::future::BoxFuture;
use serde_json::json;
use store::{
    Connection, EngineStore, Error,
    engine::{AppliedChange, ApplyChange, Time},
    on,
};

use crate::bench::{Bench, OnDatabase, landed, new, queue};

/// Counts in a table of its own, never beyond ten.
struct Counter;

impl ApplyChange for Counter {
    fn topic(&self) -> &'static str {
        "counter"
    }

    fn apply<'a>(
        &'a self,
        connection: Connection<'a>,
        applied: AppliedChange<'a>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        const SQL: &str = "UPDATE counters SET value = value + $1";
        let by = applied.body["by"].as_i64().unwrap();
        Box::pin(async move {
            if by < 0 {
                return Err(Error::Refused("counters only go up".into()));
            }
            on!(connection, |it| sqlx::query(SQL).bind(by).execute(it).await.map(drop))?;
            Ok(())
        })
    }
}

async fn counting(on: &OnDatabase) -> Bench {
    for sql in [
        "CREATE TABLE counters (value bigint NOT NULL CHECK (value <= 10))",
        "INSERT INTO counters VALUES (0)",
    ] {
        on!(on.database.writer(), |pool| sqlx::query(sql).execute(pool).await.map(drop)).unwrap();
    }
    let time = Time::Held(on.clock.clone());
    let store = EngineStore::new(on.database.clone(), on.sealer.clone(), time, PlantedBug::Nothing);
    Bench { store: store.with_changes(Arc::new(Counter)), clock: on.clock.clone() }
}

async fn counted(on: &OnDatabase) -> i64 {
    on!(on.database.reader(), |pool| sqlx::query_scalar("SELECT value FROM counters")
        .fetch_one(pool)
        .await)
    .unwrap()
}

fn by(by: i64) -> Vec<Change> {
    vec![Change { topic: "counter".into(), body: json!({ "by": by }) }]
}

pub(crate) async fn a_change_lands_with_its_commit(on: OnDatabase) {
    let bench = counting(&on).await;
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let mut commit = bench.done(&held);
    commit.changes = by(3);

    assert!(landed(&bench.commit(replica, commit).await));

    assert_eq!(counted(&on).await, 3);
}

pub(crate) async fn a_fenced_commit_changes_nothing_else(on: OnDatabase) {
    let bench = counting(&on).await;
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let mut commit = bench.done(&held);
    commit.changes = by(3);
    commit.serial = 7;

    assert_eq!(bench.commit(replica, commit).await, CommitResult::Fenced);

    assert_eq!(counted(&on).await, 0);
}

pub(crate) async fn a_rejected_change_takes_only_its_own_commit_back(on: OnDatabase) {
    let bench = counting(&on).await;
    let replica = bench.join("r").await;
    for n in 0..5 {
        bench.accept(&format!("i{n}")).await;
    }
    let held = bench.claim(replica, 5).await;
    let mut batch: Vec<_> = held.iter().map(|held| bench.done(held)).collect();
    batch[0].changes = by(1);
    batch[1].changes = by(-1);
    batch[2].changes = by(100);
    batch[3].changes = vec![Change { topic: "unheard of".into(), body: json!(null) }];

    let answers = bench.store.commit(replica, &batch).await.unwrap();

    assert!(landed(&answers[0]) && landed(&answers[4]), "{answers:?}");
    for (answer, word) in answers[1..4].iter().zip(["only go up", "", "unheard of"]) {
        assert!(
            matches!(answer, CommitResult::Rejected(text) if text.contains(word)),
            "{answer:?}"
        );
    }
    assert_eq!(counted(&on).await, 1);
    assert_eq!(bench.read(held[1].id).await.runs, 0);
    assert!(landed(&bench.commit(replica, bench.done(&held[1])).await));
}

pub(crate) async fn p02_a_service_accepts_beside_its_own_rows(on: OnDatabase) {
    let bench = counting(&on).await;
    let replica = bench.join("r").await;
    let count = "UPDATE counters SET value = value + 1";

    let mut dropped = on.database.begin().await.unwrap();
    on!(dropped.connection(), |it| sqlx::query(count).execute(it).await.map(drop)).unwrap();
    bench.store.accept_in(&mut dropped, new("i", "a"), &queue).await.unwrap();
    dropped.rollback().await.unwrap();
    assert!(bench.claim(replica, 10).await.is_empty());

    let mut wakes = bench.store.wakes();
    let mut kept = on.database.begin().await.unwrap();
    on!(kept.connection(), |it| sqlx::query(count).execute(it).await.map(drop)).unwrap();
    let first = bench.store.accept_in(&mut kept, new("i", "a"), &queue).await.unwrap();
    let second = bench.store.accept_in(&mut kept, new("i", "a"), &queue).await.unwrap();
    kept.commit().await.unwrap();

    assert_eq!((first, second), (Acceptance::Started, Acceptance::Queued));
    assert_eq!(counted(&on).await, 1);
    assert_eq!(bench.claim(replica, 10).await.len(), 1);
    wakes.recv().await.unwrap();
}
