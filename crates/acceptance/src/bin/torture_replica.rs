//! The replica that the torture test starts, kills, pauses and restarts.

use clap::Parser as _;
use kcp_acceptance::torture::replica::{Arguments, run};
use tracing_subscriber::EnvFilter;

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .init();
    run(Arguments::parse()).await
}
