//! B7: how late sleeping operations run, at a steady rate of timers.
//!
//! Both moments come from the journal: when the wait said it was due, and when the next run began.

use std::time::Duration;

use super::{
    baselines,
    child::{Replica, Spec},
    context::Bench,
    figures::{Round, Sample, median, percentile},
    load,
    plan::Begins,
};

/// Time to put all of them to sleep before the first is due.
const LEAD: Duration = Duration::from_secs(8);

pub(super) async fn round(bench: &mut Bench) -> anyhow::Result<Round> {
    const LATE: &str = "
        SELECT (extract(epoch FROM next.began_at - slept.next_at) * 1000)::float8
        FROM kcp.runs slept JOIN kcp.runs next
          ON next.operation_id = slept.operation_id AND next.seq = slept.seq + 1
        WHERE slept.outcome = 'wait'";
    let bench = &*bench;
    let notify = baselines::notify(bench).await?;
    let seconds = bench.scale.window.as_secs().max(1);
    // A wait is cut short by up to a fifth, at random, which spreads the timers over the window.
    for second in 0..seconds {
        let wait = LEAD + Duration::from_secs(second);
        let wait = u64::try_from(wait.mul_f64(1.1).as_millis())?;
        load::due(bench, Begins::AfterWaiting(wait), bench.scale.timers).await?;
    }
    bench.checkpoint().await?;
    let mut replica = Replica::start(bench, &Spec::new(bench, "replica")).await?;
    let all = u64::try_from(bench.scale.timers)? * seconds;
    replica.until(bench, Duration::from_millis(100), |progress| progress.ended >= all).await?;
    replica.kill().await?;
    let late: Vec<f64> = sqlx::query_scalar(LATE).fetch_all(&bench.pool).await?;
    anyhow::ensure!(!late.is_empty(), "no timer has fired");
    bench.put_back().await?;
    Ok(Round {
        samples: vec![Sample::new("B7", percentile(&late, 0.99), percentile(&notify, 0.99))],
        details: vec![("timer lateness p50 ms", median(&late))],
        ..Round::default()
    })
}
