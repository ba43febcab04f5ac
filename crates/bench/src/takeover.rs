//! B8 and B8a: a replica is killed with operations in flight, and starts again under its name.

use std::time::{Duration, Instant};

use super::{
    baselines,
    child::{Replica, Spec},
    context::Bench,
    figures::{Round, Sample},
    load,
    plan::Begins,
    refmodel,
};

pub(super) async fn round(bench: &mut Bench) -> anyhow::Result<Round> {
    let bench = &*bench;
    let count = bench.scale.killed;
    let claim = baselines::claim(bench, count).await?;
    let scan = refmodel::scan(bench, count as u64).await?;
    load::due(bench, Begins::Polling, count).await?;
    // More than it can serve: at every moment some are held and nearly all others are due.
    let busy = Spec { poll: Duration::from_millis(100), ..Spec::new(bench, "replica") };
    let mut replica = Replica::start(bench, &busy).await?;
    replica.until(bench, Duration::from_millis(20), |progress| progress.noted == count).await?;
    bench.checkpoint().await?;
    replica.kill().await?;
    let began = Instant::now();
    let mut replica = Replica::start(bench, &Spec::new(bench, "replica")).await?;
    replica.until(bench, Duration::from_millis(5), |progress| progress.noted == count).await?;
    let taken = began.elapsed().as_secs_f64();
    replica.kill().await?;
    bench.put_back().await?;
    Ok(Round {
        samples: vec![
            Sample::new("B8", taken, claim),
            Sample::new("B8a", taken, refmodel::PAUSE_AFTER_START + scan),
        ],
        ..Round::default()
    })
}
