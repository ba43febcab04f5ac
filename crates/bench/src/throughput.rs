//! B1, B1a, B2, B13, B14 and B15: as much as possible, with 1 000 operations in flight.

use std::time::Duration;

use super::{
    child::{Progress, Replica, Spec},
    context::Bench,
    figures::{Round, Sample},
    load,
    pgbench::{self, Script},
    plan::{Begins, STEPS},
    process, refmodel,
};

/// The work of one or more replicas in a measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) steps_per_second: f64,
    pub(super) operations_per_second: f64,
    /// Milliseconds per operation.
    replica_cpu: f64,
    database_cpu: f64,
    /// Bytes of changes per step.
    logged: f64,
    /// Transactions per operation.
    transactions: f64,
}

pub(super) async fn round(bench: &mut Bench) -> anyhow::Result<Round> {
    let bench = &*bench;
    let step8 = pgbench::run(bench, Script::Step, 8).await?;
    let one = replicas(bench, 1).await?;
    let mut samples = vec![
        Sample::new("B1", one.steps_per_second, step8.rate),
        Sample::new("B14", one.replica_cpu, one.database_cpu),
        Sample::new("B15", one.logged, step8.logged),
    ];
    if bench.wants("B1a") {
        let update8 = pgbench::run(bench, Script::Update, 8).await?;
        samples.push(Sample::new("B1a", one.steps_per_second, update8.rate));
    }
    if bench.wants("B2") {
        let reference = refmodel::rate(bench).await?;
        samples.push(Sample::new("B2", one.operations_per_second, reference));
    }
    if bench.wants("B13") {
        let three = replicas(bench, 3).await?;
        samples.push(Sample::new("B13", three.operations_per_second, one.operations_per_second));
    }
    let details = vec![
        ("transactions per operation", one.transactions),
        ("WAL bytes per operation", one.logged * f64::from(STEPS)),
        ("CPU ms per operation, replica", one.replica_cpu),
        ("CPU ms per operation, database", one.database_cpu),
    ];
    Ok(Round { samples, details, ..Round::default() })
}

/// Lets replicas work on a backlog; on a bigger one when it was gone too soon.
pub(super) async fn replicas(bench: &Bench, count: u32) -> anyhow::Result<Done> {
    let mut guess = bench.step_rate.get().map_or(bench.scale.guess, |rate| rate / f64::from(STEPS));
    for _ in 0..6 {
        let (done, seconds) = once(bench, count, bench.scale.backlog(guess)).await?;
        if seconds >= bench.scale.window.as_secs_f64() / 2.0 {
            if count == 1 {
                bench.step_rate.set(Some(done.steps_per_second));
            }
            return Ok(done);
        }
        guess *= 2.0;
    }
    anyhow::bail!("every backlog was gone before it could be measured")
}

/// The work done, and for how long there was enough of it.
async fn once(bench: &Bench, count: u32, backlog: usize) -> anyhow::Result<(Done, f64)> {
    load::due(bench, Begins::AtOnce, backlog).await?;
    bench.checkpoint().await?;
    let mut working = Vec::new();
    for number in 0..count {
        let spec = Spec::new(bench, &format!("replica-{number}"));
        working.push(Replica::start(bench, &spec).await?);
    }
    for replica in &mut working {
        replica.until(bench, Duration::from_millis(20), |progress| progress.runs > 0).await?;
    }
    bench.sleep(bench.scale.warm_up).await;
    let before = Reading::take(bench, &mut working).await?;
    let until = bench.clock.monotonic() + bench.scale.window;
    // The last thousand is not a full house any more.
    let most = (backlog as u64).saturating_sub(1_000 * u64::from(count));
    let after = loop {
        bench.sleep(Duration::from_millis(100)).await;
        let reading = Reading::take(bench, &mut working).await?;
        let ended: u64 = reading.progress.iter().map(|progress| progress.ended).sum();
        let over = bench.clock.monotonic() >= until && reading.runs() > before.runs();
        if ended >= most || over {
            break reading;
        }
    };
    for replica in working {
        replica.kill().await?;
    }
    bench.put_back().await?;
    let began: u64 = before.progress.iter().map(|progress| progress.ended).sum();
    let seconds = if began >= most { 0.0 } else { after.seconds() - before.seconds() };
    Ok((before.until(&after), seconds))
}

struct Reading {
    progress: Vec<Progress>,
    replica_cpu: f64,
    database_cpu: f64,
    logged: f64,
    transactions: f64,
}

impl Reading {
    async fn take(bench: &Bench, working: &mut [Replica]) -> anyhow::Result<Self> {
        const SQL: &str =
            "SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = 'postgres'";
        let mut progress = Vec::new();
        let mut replica_cpu = 0.0;
        for replica in working {
            progress.push(replica.progress().await?);
            replica_cpu += replica.cpu()?;
        }
        Ok(Self {
            progress,
            replica_cpu,
            database_cpu: process::server_cpu(bench.server.pid())?,
            logged: bench.logged().await?,
            transactions: sqlx::query_scalar(SQL).fetch_one(&bench.pool).await?,
        })
    }

    fn runs(&self) -> u64 {
        self.progress.iter().map(|progress| progress.runs).sum()
    }

    fn seconds(&self) -> f64 {
        self.progress.first().map_or(0.0, |progress| progress.at)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of a few million")]
    fn until(&self, later: &Self) -> Done {
        let (mut steps, mut steps_per_second) = (0.0, 0.0);
        for (before, after) in self.progress.iter().zip(&later.progress) {
            let runs = (after.runs - before.runs) as f64;
            steps += runs;
            steps_per_second += runs / (after.at - before.at);
        }
        // Operations that began together end together: counting their ends would count waves.
        let operations = steps / f64::from(STEPS);
        Done {
            steps_per_second,
            operations_per_second: steps_per_second / f64::from(STEPS),
            replica_cpu: (later.replica_cpu - self.replica_cpu) * 1_000.0 / operations,
            database_cpu: (later.database_cpu - self.database_cpu) * 1_000.0 / operations,
            logged: (later.logged - self.logged) / steps,
            transactions: (later.transactions - self.transactions) / operations,
        }
    }
}
