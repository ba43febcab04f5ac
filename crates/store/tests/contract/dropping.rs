//! Futures that are dropped half-way, at every await: no connection stays inside of a transaction, and what
//! others write afterwards is committed.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use base::Clock;
use store::{Database, Error, Options, on, testing::PostgresServer};
use tokio::sync::oneshot;

use crate::bench::OnDatabase;

const TABLE: &str = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)";
const INSERT: &str = "INSERT INTO notes (id, text) VALUES ($1, 'a note')";
const COUNT: &str = "SELECT count(*) FROM notes WHERE id = $1";
/// More awaits than a transaction of three statements has.
const AWAITS: usize = 40;
/// Far longer than a write takes, also on a busy machine.
const HANGS: Duration = Duration::from_secs(30);

/// Polls a future so often, and then drops it.
struct Polls<F> {
    future: F,
    left: usize,
}

impl<F: Future + Unpin> Future for Polls<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        Pin::new(&mut self.future).poll(cx).map(Some)
    }
}

async fn execute(database: &Database, text: &'static str) {
    on!(database.writer(), |pool| sqlx::query(text).execute(pool).await.map(drop)).unwrap();
}

/// One write that is a transaction of its own, as a claim is.
async fn insert_alone(database: &Database, id: i32) -> Result<(), Error> {
    on!(database.writer(), |pool| sqlx::query(INSERT).bind(id).execute(pool).await.map(drop))?;
    Ok(())
}

async fn insert_in_transaction(database: &Database, id: i32) -> Result<(), Error> {
    let mut transaction = database.begin().await?;
    on!(transaction.connection(), |connection| {
        sqlx::query(INSERT).bind(id).execute(connection).await.map(drop)
    })?;
    transaction.commit().await
}

async fn is_stored(database: &Database, id: i32) -> bool {
    let count: i64 =
        on!(database.reader(), |pool| sqlx::query_scalar(COUNT).bind(id).fetch_one(pool).await)
            .unwrap();
    count == 1
}

/// Drops transactions at every await, so many times; how many writes of others were lost after that. How often a future
/// is polled before its answer is there differs from one time to the next, so one round may miss an await.
pub(crate) async fn drop_at_every_await(bench: &OnDatabase, rounds: usize) -> usize {
    let outside = bench.test.database().await;
    let database = &bench.database;
    execute(database, TABLE).await;
    let mut lost = 0;
    for at in 0..rounds * AWAITS {
        let (polls, number) = (at % AWAITS, i32::try_from(at).unwrap());
        let future = Box::pin(insert_in_transaction(database, 1_000_000 + number));
        Polls { future, left: polls }.await.transpose().unwrap();
        // All connections are back, and as many writes as there may be connections use each of them.
        on!(database.writer(), |pool| while pool.num_idle() < pool.size() as usize {
            tokio::task::yield_now().await;
        });
        for write in 0..10 {
            let id = number * 100 + write;
            let written = tokio::time::timeout(HANGS, insert_alone(database, id));
            lost +=
                usize::from(!matches!(written.await, Ok(Ok(()))) || !is_stored(&outside, id).await);
            if lost > 0 {
                break;
            }
        }
        if lost > 0 {
            break;
        }
    }
    lost
}

pub(crate) async fn p24_a_transaction_dropped_at_any_await_leaves_its_connection_clean(
    bench: OnDatabase,
) {
    let lost = drop_at_every_await(&bench, 2).await;

    assert_eq!(lost, 0, "writes after a dropped transaction are not committed");
    assert_eq!(bench.database.released().found_in_transaction(), 0);
}

pub(crate) async fn p24_a_commit_goes_on_when_its_caller_gives_up(bench: OnDatabase) {
    let outside = bench.test.database().await;
    execute(&bench.database, TABLE).await;
    let mut transaction = bench.database.begin().await.unwrap();
    on!(transaction.connection(), |connection| {
        sqlx::query(INSERT).bind(1).execute(connection).await.map(drop)
    })
    .unwrap();
    let (landed, has_landed) = oneshot::channel();
    transaction.afterwards(move || {
        let _ = landed.send(());
    });

    Polls { future: Box::pin(transaction.commit()), left: 1 }.await;

    has_landed.await.expect("the commit goes on without its caller");
    assert!(is_stored(&outside, 1).await);
}

/// Lets commits fail; how many writes of others were lost after that.
pub(crate) async fn fail_commits(bench: &OnDatabase) -> usize {
    const PARENTS: &str = "CREATE TABLE parents (id INTEGER PRIMARY KEY)";
    const CHILDREN: &str = "CREATE TABLE children (
        parent INTEGER NOT NULL REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)";
    const CHILD: &str = "INSERT INTO children (parent) VALUES (1)";
    for text in [TABLE, PARENTS, CHILDREN] {
        execute(&bench.database, text).await;
    }

    let mut lost = 0;
    for id in 0..12 {
        let Ok(mut transaction) = bench.database.begin().await else {
            lost += 1;
            continue;
        };
        on!(transaction.connection(), |connection| {
            sqlx::query(CHILD).execute(connection).await.map(drop)
        })
        .unwrap();
        assert!(transaction.commit().await.is_err(), "the parent is missing");

        let written = insert_in_transaction(&bench.database, id).await;
        let stored = is_stored(&bench.test.database().await, id).await;
        lost += usize::from(written.is_err() || !stored);
    }
    lost
}

pub(crate) async fn p24_a_failed_commit_leaves_its_connection_clean(bench: OnDatabase) {
    assert_eq!(fail_commits(&bench).await, 0, "writes after a failed commit are not committed");
}

#[tokio::test(flavor = "multi_thread")]
async fn p24_a_frozen_database_leaves_no_session_inside_a_transaction() {
    const OPEN: &str = "
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL";
    let mut server = PostgresServer::start(&[]).await;
    let options = Options { connections: 3, ..Options::new(server.url("postgres")) };
    let database = Database::open(&options).await.unwrap();
    execute(&database, TABLE).await;
    let clock = Clock::running();

    server.freeze().await;
    for id in 0..6 {
        let given_up = tokio::time::timeout(
            Duration::from_millis(30),
            insert_in_transaction(&database, 10_000 + id),
        );
        given_up.await.expect_err("a frozen database answers nothing");
    }
    server.thaw().await;

    let outside = Database::open(&options).await.unwrap();
    let mut written = 0;
    while written < 30 {
        match insert_alone(&database, written).await {
            Ok(()) => {
                assert!(is_stored(&outside, written).await, "write {written} was not committed");
                written += 1;
            }
            // Connections that gave up on the frozen server are replaced one by one.
            Err(error) => assert_eq!(error.trouble(), store::error::Trouble::Passing, "{error:?}"),
        }
    }
    loop {
        let open: i64 =
            on!(outside.reader(), |pool| sqlx::query_scalar(OPEN).fetch_one(pool).await).unwrap();
        if open == 0 {
            break;
        }
        assert!(
            clock.monotonic() < Duration::from_secs(60),
            "{open} sessions are in a transaction"
        );
    }
    assert_eq!(database.released().found_in_transaction(), 0);
}
