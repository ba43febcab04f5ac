//! A table of the simulated systems.

use clap::Args;

use super::rows;
use crate::{
    client::Client,
    output::{self, Format, table},
};

/// List the simulated systems: their health, their trouble, their calls.
#[derive(Args)]
pub(super) struct Systems {}

impl Systems {
    pub(super) async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let answer = client.look("listing systems", "/systems", &[]).await?;
        if format == Format::Json {
            return output::json(&answer);
        }
        let head = ["NAME", "BASE", "HEALTH", "OBJECTS", "RECEIVED", "APPLIED", "LOST", "PURPOSE"];
        let fields = [
            "/name",
            "/base",
            "/health",
            "/objects",
            "/calls/received",
            "/calls/applied",
            "/calls/lost",
            "/purpose",
        ];
        output::print(&table(&head, rows(&answer["systems"], &fields)))
    }
}
