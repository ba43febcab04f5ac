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

#[expect(clippy::cast_precision_loss, reason = "counts of a few million")]
async fn many(bench: &Bench, round: &mut Round) -> anyhow::Result<()> {
    let (count, wait) = (bench.scale.waiting, bench.scale.wait);
    let rate = match bench.step_rate.get() {
        Some(rate) => rate,
        None => throughput::replicas(bench, 1).await?.steps_per_second,
    };
    load::due(bench, Begins::AfterWaiting(u64::try_from(wait.as_millis())?), count).await?;
    bench.checkpoint().await?;
    let began = Instant::now();
    let mut replica = Replica::start(bench, &Spec::new(bench, "replica")).await?;
    let pause = Duration::from_millis(50);
    let asleep = |progress: &Progress| progress.noted == count;
    replica.until(bench, pause, asleep).await?;
    let asleep_after = began.elapsed().as_secs_f64();
    // The last ones still have to be committed.
    bench.sleep(Duration::from_millis(500)).await;
    let idle = idle(bench, &replica).await?;
    let (resident, _) = replica.memory()?;
    replica.until(bench, pause, |progress| progress.ended >= count as u64).await?;
    let took = began.elapsed().as_secs_f64() - wait.as_secs_f64();
    let (_, peak) = replica.memory()?;
    replica.kill().await?;
    bench.put_back().await?;
    // Eleven steps, and one run that waits.
    let least = count as f64 * f64::from(STEPS + 1) / rate;
    round.samples.extend([
        Sample::absolute("B6", resident),
        Sample::new("B6a", took, least),
        Sample::absolute("B6b", idle.cpu),
        Sample::absolute("B6b2", idle.statements),
    ]);
    round.details.extend([("seconds until all wait", asleep_after), ("peak memory MiB", peak)]);
    Ok(())
}

struct Idle {
    /// Percent of a core.
    cpu: f64,
    /// Per second.
    statements: f64,
}

/// What a replica does while everything waits. The server writes down every statement meanwhile.
#[expect(clippy::cast_precision_loss, reason = "counts of a few hundred")]
async fn idle(bench: &Bench, replica: &Replica) -> anyhow::Result<Idle> {
    // Waits are cut short by up to a fifth, so the first come back after four fifths.
    let window = bench.scale.window.min(bench.scale.wait / 5);
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
    Ok(Idle { cpu: cpu * 100.0 / seconds, statements: (after - before) as f64 / seconds })
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
