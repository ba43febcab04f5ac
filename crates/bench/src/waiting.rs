//! B6, B6a, B6b and B6c: very many operations that wait for another system.

use std::time::{Duration, Instant};

use super::{
    child::{Progress, Replica, Spec},
    context::Bench,
    figures::{Round, Sample},
    load,
    plan::{Begins, STEPS},
    refmodel, throughput,
};

pub(super) async fn round(bench: &mut Bench) -> anyhow::Result<Round> {
    let bench = &*bench;
    let mut round = Round::default();
    if ["B6", "B6a", "B6b", "B6b2"].iter().any(|id| bench.wants(id)) {
        many(bench, &mut round).await?;
    }
    if bench.wants("B6c") {
        few(bench, &mut round).await?;
    }
    Ok(round)
}

/// Memory, CPU and statements while all wait; then the time until all are final.
async fn many(bench: &Bench, round: &mut Round) -> anyhow::Result<()> {
    // So long that none comes back while the others are still put to sleep.
    let (mut replica, _) = put_to_sleep(bench, bench.scale.wait * 10).await?;
    let count = bench.scale.waiting;
    let noted = |progress: &Progress| progress.noted == count;
    let asleep = replica.until(bench, Duration::from_millis(50), noted).await?;
    // The last ones still have to be committed.
    bench.sleep(Duration::from_millis(500)).await;
    let idle = idle(bench, &replica).await?;
    let (resident, peak) = replica.memory()?;
    replica.kill().await?;
    bench.put_back().await?;
    round.samples.extend([
        Sample::absolute("B6", resident),
        Sample::absolute("B6b", idle.cpu),
        Sample::absolute("B6b2", idle.statements),
    ]);
    round.details.extend([("seconds until all wait", asleep.at), ("peak memory MiB", peak)]);
    if bench.wants("B6a") {
        round.samples.push(until_final(bench).await?);
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts of a few million")]
async fn until_final(bench: &Bench) -> anyhow::Result<Sample> {
    let (count, wait) = (bench.scale.waiting, bench.scale.wait);
    let rate = match bench.step_rate.get() {
        Some(rate) => rate,
        None => throughput::replicas(bench, 1).await?.steps_per_second,
    };
    let (mut replica, began) = put_to_sleep(bench, wait).await?;
    let ended = |progress: &Progress| progress.ended >= count as u64;
    replica.until(bench, Duration::from_millis(50), ended).await?;
    let took = began.elapsed().as_secs_f64() - wait.as_secs_f64();
    replica.kill().await?;
    bench.put_back().await?;
    // Eleven steps, and one run that waits.
    Ok(Sample::new("B6a", took, count as f64 * f64::from(STEPS + 1) / rate))
}

/// Starts a replica on many operations that wait for `wait`, and says when.
async fn put_to_sleep(bench: &Bench, wait: Duration) -> anyhow::Result<(Replica, Instant)> {
    let begins = Begins::AfterWaiting(u64::try_from(wait.as_millis())?);
    load::due(bench, begins, bench.scale.waiting).await?;
    bench.checkpoint().await?;
    let began = Instant::now();
    Ok((Replica::start(bench, &Spec::new(bench, "replica")).await?, began))
}

struct IdleCost {
    /// Percent of a core.
    cpu: f64,
    /// Per second.
    statements: f64,
}

/// The cost of a replica while everything waits. The server logs every statement meanwhile.
#[expect(clippy::cast_precision_loss, reason = "counts of a few hundred")]
async fn idle(bench: &Bench, replica: &Replica) -> anyhow::Result<IdleCost> {
    let window = bench.scale.window;
    let statements = |log: &str| {
        let ours =
            |line: &&str| line.contains("LOG:  execute ") || line.contains("LOG:  statement: ");
        log.lines().filter(ours).count()
    };
    write_down(bench, "all").await?;
    let before = statements(&bench.server.log());
    let (cpu, at) = (replica.cpu()?, Instant::now());
    bench.sleep(window).await;
    let cpu = replica.cpu()? - cpu;
    let seconds = at.elapsed().as_secs_f64();
    let after = statements(&bench.server.log());
    write_down(bench, "none").await?;
    Ok(IdleCost { cpu: cpu * 100.0 / seconds, statements: (after - before) as f64 / seconds })
}

async fn write_down(bench: &Bench, what: &'static str) -> anyhow::Result<()> {
    let set = if what == "all" {
        "ALTER SYSTEM SET log_statement = 'all'"
    } else {
        "ALTER SYSTEM RESET log_statement"
    };
    sqlx::raw_sql(set).execute(&bench.pool).await?;
    sqlx::raw_sql("SELECT pg_reload_conf()").execute(&bench.pool).await?;
    bench.sleep(Duration::from_millis(300)).await;
    Ok(())
}

/// A few, in comparison with the reference model, which keeps a worker asleep for each.
async fn few(bench: &Bench, round: &mut Round) -> anyhow::Result<()> {
    let (count, wait) = (bench.scale.few_waiting as u64, bench.scale.short_wait);
    let reference = refmodel::waiting(bench, count, wait).await?;
    let begins = Begins::AfterWaiting(u64::try_from(wait.as_millis())?);
    load::due(bench, begins, bench.scale.few_waiting).await?;
    bench.checkpoint().await?;
    let began = Instant::now();
    let mut replica = Replica::start(bench, &Spec::new(bench, "replica")).await?;
    let pause = Duration::from_millis(5);
    replica.until(bench, pause, |progress| progress.ended >= count).await?;
    let took = began.elapsed().as_secs_f64();
    replica.kill().await?;
    bench.put_back().await?;
    round.samples.push(Sample::new("B6c", took, reference));
    Ok(())
}
