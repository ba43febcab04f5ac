//! A table of the simulated systems.

use clap::Args;

use super::{cells, items};
use crate::{
    client::Client,
    output::{Format, Head, Layout},
};

/// List the simulated systems with their health, trouble and calls.
#[derive(Args)]
pub(super) struct Systems {}

impl Systems {
    pub(super) async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let answer = client.look("listing systems", "/systems", &[]).await?;
        let head = [
            Head::Fixed("NAME"),
            Head::Wide("BASE"),
            Head::State("HEALTH"),
            Head::Fixed("OBJECTS"),
            Head::Fixed("RECEIVED"),
            Head::Wide("APPLIED"),
            Head::Wide("LOST"),
            Head::Text("PURPOSE"),
        ];
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
        let layout = Layout { head: &head, name: "/name", empty: "" };
        format.list(&answer, items(&answer["systems"]), &layout, cells(&fields))
    }
}
