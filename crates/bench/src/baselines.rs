//! Baselines that need a program: notifications, claims, and one local connection.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use sqlx::{
    ConnectOptions as _, Row as _,
    postgres::PgListener,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use uuid::Uuid;

use super::{context::Bench, plan::Payload, replica::milliseconds};

/// From sending an insert that notifies to the wake-up of a listener, in milliseconds.
pub(super) async fn notify(bench: &Bench) -> anyhow::Result<Vec<f64>> {
    const SQL: &str = "
        WITH stored AS (INSERT INTO base.notified VALUES (now()) RETURNING at)
        SELECT pg_notify('bench', at::text) FROM stored";
    bench.checkpoint().await?;
    let mut listener = PgListener::connect(&bench.server.url()).await?;
    listener.listen("bench").await?;
    let warm = Instant::now() + bench.scale.warm_up;
    let until = warm + bench.scale.window;
    let mut found = Vec::new();
    while Instant::now() < until {
        let sent = Instant::now();
        let (stored, heard) = tokio::join!(sqlx::query(SQL).execute(&bench.pool), async {
            let heard = listener.recv().await;
            (heard, sent.elapsed())
        });
        stored?;
        heard.0?;
        if sent >= warm {
            found.push(milliseconds(heard.1));
        }
    }
    Ok(found)
}

/// Seconds that one connection needs to claim `count` operations, 1 000 per statement.
pub(super) async fn claim(bench: &Bench, count: usize) -> anyhow::Result<f64> {
    const FILL: &str = "
        INSERT INTO base.claimable (id, due_at, payload)
        SELECT gen_random_uuid(), now(), p FROM unnest($1::bytea[]) AS p";
    const CLAIM: &str = "
        UPDATE base.claimable c SET owner = $1, epoch = c.epoch + 1
        FROM (SELECT id FROM base.claimable WHERE owner IS NULL AND due_at <= now()
              ORDER BY due_at LIMIT 1000 FOR UPDATE SKIP LOCKED) due
        WHERE c.id = due.id RETURNING c.payload";
    sqlx::raw_sql("TRUNCATE base.claimable").execute(&bench.pool).await?;
    let payload = serde_json::to_vec(&Payload::random())?;
    let mut left = count;
    while left > 0 {
        let part = left.min(500);
        left -= part;
        sqlx::query(FILL).bind(vec![&payload; part]).execute(&bench.pool).await?;
    }
    sqlx::raw_sql("VACUUM ANALYZE base.claimable").execute(&bench.pool).await?;
    bench.checkpoint().await?;
    let mut connection = bench.pool.acquire().await?;
    let began = Instant::now();
    let mut owned = 0;
    while owned < count {
        let rows = sqlx::query(CLAIM).bind(Uuid::nil()).fetch_all(&mut *connection).await?;
        anyhow::ensure!(!rows.is_empty(), "there is nothing left to claim");
        for row in rows {
            let bytes: Vec<u8> = row.try_get(0)?;
            let decoded: Payload = serde_json::from_slice(&bytes)?;
            owned += usize::from(!decoded.text.is_empty());
        }
    }
    Ok(began.elapsed().as_secs_f64())
}

/// Commits per second of one connection to the embedded database, one single-row update each.
pub(super) async fn local1(bench: &Bench) -> anyhow::Result<f64> {
    let path = bench.server.folder().join(format!("local-{}.db", Uuid::new_v4().simple()));
    // The product's own way of writing.
    let mut connection = SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .connect()
        .await?;
    sqlx::raw_sql("CREATE TABLE rows (id INTEGER PRIMARY KEY, step TEXT, serial INTEGER)")
        .execute(&mut connection)
        .await?;
    let rows = i64::try_from(bench.scale.rows).context("too many rows")?;
    sqlx::query(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
         INSERT INTO rows SELECT i, 'Fifth', 0 FROM n",
    )
    .bind(rows)
    .execute(&mut connection)
    .await?;
    let mut commits = 0_u32;
    let mut began = Instant::now();
    let mut warm = false;
    let mut until = began + bench.scale.warm_up;
    loop {
        if Instant::now() >= until {
            if warm {
                break;
            }
            warm = true;
            commits = 0;
            began = Instant::now();
            until = began + bench.scale.window;
        }
        sqlx::query("UPDATE rows SET serial = serial + 1 WHERE id = $1")
            .bind(fastrand::i64(1..=rows))
            .execute(&mut connection)
            .await?;
        commits += 1;
    }
    let seconds = began.elapsed().max(Duration::from_millis(1)).as_secs_f64();
    drop(connection);
    std::fs::remove_file(path)?;
    Ok(f64::from(commits) / seconds)
}
