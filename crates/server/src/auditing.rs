//! Keeps the audit of a service: gives entries their places in the chain, and removes those that are too old.

use std::time::Duration;

use base::{Clock, failure::chain};
use store::audit::{AuditLog, PAGE};

/// How often entries are linked.
const PAUSE: Duration = Duration::from_secs(2);
/// How often old entries are removed.
const BETWEEN_TRIMS: Duration = Duration::from_hours(1);
/// A request that has had no result for so long gets none: its process died.
const UNKNOWN_AFTER: Duration = Duration::from_mins(10);

/// Goes on until it is stopped.
pub(crate) async fn keep(audit: AuditLog, clock: Clock, keep: Duration) {
    let mut next_trim = clock.now();
    loop {
        let now = clock.now();
        let linked = audit.link(now - UNKNOWN_AFTER).await.unwrap_or_else(|error| {
            tracing::warn!(error = chain(&error), "audit cannot be linked");
            0
        });
        if now >= next_trim {
            next_trim = now + BETWEEN_TRIMS;
            match audit.trim(now - keep).await {
                Ok(0) => {}
                Ok(removed) => {
                    tracing::info!(target: "audit", removed, "old audit entries removed");
                }
                Err(error) => tracing::warn!(error = chain(&error), "audit cannot be trimmed"),
            }
        }
        if linked < PAGE {
            clock.sleep(PAUSE).await;
        }
    }
}
