//! Adds the provisioner's ended operations to the sums that operators' questions are answered from.

use std::time::Duration;

use base::{Clock, failure::chain};
use store::operations::Operations;

/// How often ended operations are added.
const PAUSE: Duration = Duration::from_secs(5);
/// How often old sums are deleted.
const BETWEEN_DELETIONS: Duration = Duration::from_hours(1);

/// Goes on until it is stopped.
pub(crate) async fn keep(operations: Operations, clock: Clock) {
    let mut next_deletion = clock.now();
    loop {
        // Runtimes have no plans.
        let more = operations.count_ended(|_| None).await.unwrap_or_else(|error| {
            tracing::warn!(error = chain(&error), "ended operations cannot be counted");
            false
        });
        if clock.now() >= next_deletion {
            next_deletion = clock.now() + BETWEEN_DELETIONS;
            if let Err(error) = operations.forget_sums().await {
                tracing::warn!(error = chain(&error), "old sums cannot be deleted");
            }
        }
        if !more {
            clock.sleep(PAUSE).await;
        }
    }
}
