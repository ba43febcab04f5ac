//! B3 and B7a: one operation at a time, on an idle system.
//!
//! The request is the call of the engine: HTTP has benchmarks of its own.

use super::{
    baselines,
    child::{Latencies, Question, Replica, Spec},
    context::Bench,
    figures::{Round, Sample, median, percentile},
    pgbench::{self, Script},
    plan::STEPS,
};

pub(super) async fn round(bench: &mut Bench) -> anyhow::Result<Round> {
    let bench = &*bench;
    let insert1 = pgbench::run(bench, Script::Insert, 1).await?;
    let step1 = pgbench::run(bench, Script::Step, 1).await?;
    let notify = baselines::notify(bench).await?;
    bench.checkpoint().await?;
    let spec = Spec { records: true, ..Spec::new(bench, "replica") };
    let mut replica = Replica::start(bench, &spec).await?;
    let warm_up = Question::Latency(bench.scale.warm_up.as_secs_f64());
    let _: Latencies = replica.ask(warm_up).await?;
    let found: Latencies = replica.ask(Question::Latency(bench.scale.window.as_secs_f64())).await?;
    replica.kill().await?;
    bench.put_back().await?;
    let least = insert1.p50 + f64::from(STEPS) * step1.p50;
    Ok(Round {
        samples: vec![
            Sample::new("B3", median(&found.to_final), least),
            Sample::new("B7a", percentile(&found.to_first, 0.99), percentile(&notify, 0.99)),
        ],
        details: vec![
            ("insert1 p50 ms", insert1.p50),
            ("step1 p50 ms", step1.p50),
            ("step1 p99 ms", step1.p99),
            ("notify p50 ms", median(&notify)),
            ("request to final p99 ms", percentile(&found.to_final, 0.99)),
            ("reply to first step p50 ms", median(&found.to_first)),
        ],
        ..Round::default()
    })
}
