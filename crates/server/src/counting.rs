//! Adds the provisioner's ended operations to the sums that operators' questions are answered from, and computes the numbers of its
//! metrics.

use std::{sync::Arc, time::Duration};

use base::{Clock, failure::chain};
use broker::answers::Gauges;
use store::operations::{Operations, OperationsError, UsualDurations};

use crate::metrics::Metrics;

/// How often ended operations are added.
const PAUSE: Duration = Duration::from_secs(5);
/// How often the numbers are computed.
const BETWEEN_NUMBERS: Duration = Duration::from_secs(30);
/// How often old sums are deleted, and usual times are read.
const BETWEEN_DELETIONS: Duration = Duration::from_hours(1);

/// Goes on until it is stopped.
pub(crate) async fn keep(operations: Operations, metrics: Arc<Metrics>, clock: Clock) {
    let (mut next_numbers, mut next_deletion) = (clock.now(), clock.now());
    let mut usuals = None;
    loop {
        // Runtimes have no plans.
        let more = operations.count_ended(|_| None).await.unwrap_or_else(|error| {
            tracing::warn!(error = chain(&error), "ended operations cannot be counted");
            false
        });
        let now = clock.now();
        if now >= next_deletion {
            next_deletion = now + BETWEEN_DELETIONS;
            usuals = None;
            if let Err(error) = operations.forget_sums().await {
                tracing::warn!(error = chain(&error), "old sums cannot be deleted");
            }
        }
        if now >= next_numbers {
            next_numbers = now + BETWEEN_NUMBERS;
            match numbers(&operations, &mut usuals).await {
                Ok(gauges) => metrics.keep(gauges),
                Err(error) => {
                    tracing::warn!(error = chain(&error), "numbers for metrics cannot be computed");
                }
            }
        }
        if !more {
            clock.sleep(PAUSE).await;
        }
    }
}

async fn numbers(
    operations: &Operations,
    usuals: &mut Option<UsualDurations>,
) -> Result<Gauges, OperationsError> {
    let known = match usuals.take() {
        Some(known) => known,
        None => operations.usuals().await?,
    };
    let present = operations.present_by(&[], usuals.insert(known)).await?;
    Gauges::of_operations(operations, &present).await
}
