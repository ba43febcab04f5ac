//! Log lines: readable on a terminal, JSON for machines. They go to standard error.
//!
//! A line that cannot be written is dropped: by default, the failure would be printed to the same place with `eprintln!`, which
//! panics, and a step that panics fails its operation.

use std::io::IsTerminal;

use anyhow::Context;
use tracing_subscriber::EnvFilter;

use crate::settings::Format;

/// Reads which lines are written.
pub(crate) fn filter(text: &str) -> anyhow::Result<EnvFilter> {
    EnvFilter::try_new(text)
        .with_context(|| format!("telemetry.log: \"{text}\" does not say which lines are written"))
}

/// Starts writing log lines. Once per process.
pub fn start(log: &str, format: Format) -> anyhow::Result<()> {
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter(log)?)
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let started = match format {
        Format::Text => lines.with_target(false).try_init(),
        Format::Json => lines.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("log lines are written already: {error}"))
}
