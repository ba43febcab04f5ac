//! When to stop.

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

/// Comes back with SIGINT or SIGTERM.
pub async fn requested() -> anyhow::Result<()> {
    let mut terminate =
        signal(SignalKind::terminate()).context("SIGTERM cannot be listened for")?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.context("SIGINT cannot be listened for"),
        _ = terminate.recv() => Ok(()),
    }
}
