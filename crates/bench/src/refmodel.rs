//! A model of the reference engine: a queue in memory, 20 workers, 8 connections, statements as text.
//!
//! Every save writes the whole 4 KB row in a transaction of its own; a retry delay sleeps in the
//! worker; after a start it waits two minutes before it picks up what was unfinished.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use base::Clock;
use sqlx::{AssertSqlSafe, PgPool, postgres::PgPoolOptions};

use super::{
    context::Bench,
    plan::{Payload, STEPS},
};

const WORKERS: usize = 20;
const CONNECTIONS: u32 = 8;
/// The pause after a start, in seconds.
pub(super) const PAUSE_AFTER_START: f64 = 120.0;

struct Model {
    pool: PgPool,
    queue: AtomicU64,
    most: u64,
    finished: AtomicU64,
    payload: String,
    delay: Duration,
    until: Option<Instant>,
}

/// Operations per second without any delay.
pub(super) async fn rate(bench: &Bench) -> anyhow::Result<f64> {
    let window = bench.scale.warm_up + bench.scale.window;
    let model = Model::prepare(bench, 20_000, Duration::ZERO, Some(window)).await?;
    let began = Instant::now();
    let counted = model.clone();
    let finished = run(&model);
    let warm = async {
        bench.sleep(bench.scale.warm_up).await;
        (began.elapsed(), counted.finished.load(Ordering::Relaxed))
    };
    let (done, (warm_at, warm)) = tokio::join!(finished, warm);
    done?;
    let seconds = began.elapsed().saturating_sub(warm_at).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    Ok((model.finished.load(Ordering::Relaxed) - warm) as f64 / seconds)
}

/// Seconds until `count` operations are final, each of which waits once.
pub(super) async fn waiting(bench: &Bench, count: u64, delay: Duration) -> anyhow::Result<f64> {
    let model = Model::prepare(bench, count, delay, None).await?;
    let began = Instant::now();
    run(&model).await?;
    Ok(began.elapsed().as_secs_f64())
}

/// Seconds to read all unfinished operations after a start, without the pause before it.
pub(super) async fn scan(bench: &Bench, count: u64) -> anyhow::Result<f64> {
    let model = Model::prepare(bench, count, Duration::ZERO, None).await?;
    let began = Instant::now();
    let found: Vec<(i64, String)> =
        sqlx::query_as("SELECT id, data FROM base.reference WHERE state = 'in progress'")
            .fetch_all(&model.pool)
            .await?;
    anyhow::ensure!(found.len() as u64 == count, "the scan did not find everything");
    Ok(began.elapsed().as_secs_f64())
}

impl Model {
    async fn prepare(
        bench: &Bench,
        most: u64,
        delay: Duration,
        window: Option<Duration>,
    ) -> anyhow::Result<Arc<Self>> {
        const FILL: &str = "
            INSERT INTO base.reference
            SELECT n, 'in progress', $2 FROM generate_series(1, $1::bigint) n";
        sqlx::raw_sql("TRUNCATE base.reference, base.events").execute(&bench.pool).await?;
        let payload = Payload::random().text;
        let count = i64::try_from(most)?;
        sqlx::query(FILL).bind(count).bind(&payload).execute(&bench.pool).await?;
        sqlx::raw_sql("VACUUM ANALYZE base.reference").execute(&bench.pool).await?;
        bench.checkpoint().await?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(Duration::from_secs(600))
            .test_before_acquire(false)
            .connect(&bench.server.url())
            .await?;
        let until = window.map(|window| Instant::now() + window);
        let (queue, finished) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Arc::new(Self { pool, queue, most, finished, payload, delay, until }))
    }

    async fn text(&self, text: String) -> anyhow::Result<()> {
        sqlx::raw_sql(AssertSqlSafe(text)).execute(&self.pool).await?;
        Ok(())
    }

    async fn save(&self, id: u64, state: &str) -> anyhow::Result<()> {
        let data = &self.payload;
        self.text(format!(
            "UPDATE base.reference SET state = '{state}', data = '{data}' WHERE id = {id}"
        ))
        .await
    }

    async fn operation(&self, id: u64) -> anyhow::Result<()> {
        self.text(format!("SELECT state, data FROM base.reference WHERE id = {id}")).await?;
        for stage in 0..STEPS {
            self.text(format!(
                "INSERT INTO base.events (operation, message) VALUES ({id}, 'processing stage {stage}')"
            ))
            .await?;
            self.save(id, "in progress").await?;
            if stage == 0 && !self.delay.is_zero() {
                Clock::running().sleep(self.delay).await;
            }
            self.save(id, "in progress").await?;
        }
        self.save(id, "succeeded").await?;
        self.finished.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn work(&self) -> anyhow::Result<()> {
        loop {
            let id = self.queue.fetch_add(1, Ordering::Relaxed) + 1;
            if id > self.most || self.until.is_some_and(|until| Instant::now() >= until) {
                return Ok(());
            }
            self.operation(id).await?;
        }
    }
}

async fn run(model: &Arc<Model>) -> anyhow::Result<()> {
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let model = model.clone();
            tokio::spawn(async move { model.work().await })
        })
        .collect();
    for worker in workers {
        worker.await.context("a worker of the model panicked")??;
    }
    model.pool.close().await;
    Ok(())
}
