//! Signals that end a run before it is done: Ctrl-C, SIGTERM, and a terminal that goes away.
//!
//! What a reader would get wrong: under `nohup` a terminal that goes away ends nothing. Listening for SIGHUP would undo that.

use std::{fs, future};

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

/// Comes back with the exit code for the signal that came.
pub(super) async fn ending() -> anyhow::Result<u8> {
    let mut terminate =
        signal(SignalKind::terminate()).context("SIGTERM cannot be listened for")?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => {
            pressed.context("SIGINT cannot be listened for")?;
            Ok(130)
        }
        _ = terminate.recv() => Ok(143),
        hung_up = hangup() => hung_up,
    }
}

/// The same for SIGHUP alone; never if the caller wants it ignored.
async fn hangup() -> anyhow::Result<u8> {
    if ignores_hangup(&fs::read_to_string("/proc/self/status").unwrap_or_default()) {
        return future::pending().await;
    }
    let mut hangup = signal(SignalKind::hangup()).context("SIGHUP cannot be listened for")?;
    hangup.recv().await;
    Ok(129)
}

/// Whether the status of a process, as Linux tells it, has SIGHUP among the signals that are ignored.
fn ignores_hangup(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_under_nohup_outlives_its_terminal() {
        assert!(ignores_hangup("Name:\tkcp\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"));
        assert!(!ignores_hangup("Name:\tkcp\nSigIgn:\t0000000000001000\nSigCgt:\t1\n"));
        assert!(!ignores_hangup(""));
    }
}
