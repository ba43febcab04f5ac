//! B18: step commits with the embedded database.

use std::time::Duration;

use secrecy::SecretString;
use sqlx::{ConnectOptions as _, Connection as _, sqlite::SqliteConnectOptions};
use store::{Database, Set};

use super::{
    baselines,
    child::{Replica, Spec},
    context::Bench,
    figures::{Round, Sample},
    load,
    plan::STEPS,
};

#[expect(clippy::cast_precision_loss, reason = "counts of a few million")]
pub(super) async fn round(bench: &mut Bench) -> anyhow::Result<Round> {
    let bench = &*bench;
    let local1 = baselines::local1(bench).await?;
    let path = bench.server.folder().join("embedded.db");
    let url = format!("sqlite://{}", path.display());
    let database = Database::open(&store::Options::new(SecretString::from(url.clone()))).await?;
    database.migrate(Set::Engine).await?;
    database.close().await;
    let backlog = bench.scale.backlog(bench.scale.guess);
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await?;
    load::embedded(&mut connection, bench, bench.scale.rows, backlog).await?;
    sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await?;
    connection.close().await?;
    let spec = Spec { url, schema: None, ..Spec::new(bench, "replica") };
    let mut replica = Replica::start(bench, &spec).await?;
    replica.until(bench, Duration::from_millis(20), |progress| progress.runs > 0).await?;
    bench.sleep(bench.scale.warm_up).await;
    let (before, cpu_before) = (replica.progress().await?, replica.cpu()?);
    let until = bench.clock.monotonic() + bench.scale.window;
    let most = (backlog as u64).saturating_sub(1_000);
    let enough = |ended| ended >= most || bench.clock.monotonic() >= until;
    let pause = Duration::from_millis(100);
    let after = replica.until(bench, pause, |progress| enough(progress.ended)).await?;
    let cpu = replica.cpu()? - cpu_before;
    replica.kill().await?;
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
    let steps = (after.runs - before.runs) as f64;
    let cpu_per_operation = cpu * 1_000.0 / steps * f64::from(STEPS);
    Ok(Round {
        samples: vec![Sample::new("B18", steps / (after.at - before.at), local1)],
        details: vec![("CPU ms per operation, embedded", cpu_per_operation)],
        ..Round::default()
    })
}
