//! A table of operations, newest first.

use std::fmt::Write;

use clap::Args;

use crate::{
    client::Client,
    output::{self, Format, table, time},
    view::Page,
};

/// Which operations to list.
#[derive(Args)]
pub(super) struct List {
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Only those behind this one.
    #[arg(long, value_name = "ID")]
    after: Option<domain::OperationId>,
    /// Only those in this state, for example "in progress".
    #[arg(long)]
    state: Option<String>,
    /// Only those of this instance.
    #[arg(long, value_name = "ID")]
    instance: Option<String>,
}

impl List {
    pub(super) async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let mut query = vec![("limit", self.limit.to_string())];
        query.extend(self.after.map(|id| ("after", id.to_string())));
        query.extend(self.state.map(|state| ("state", state)));
        query.extend(self.instance.map(|id| ("instance", id)));
        let answer = client.list(&query).await?;
        if format == Format::Json {
            return output::json(&answer);
        }
        let page: Page = serde_json::from_value(answer)?;
        output::print(&text(&page))
    }
}

fn text(page: &Page) -> String {
    if page.operations.is_empty() {
        return "no operations\n".into();
    }
    let head = ["ID", "KIND", "INSTANCE", "STATE", "STAGE", "STEP", "ACCEPTED", "REASON"];
    let rows = page.operations.iter().map(|operation| {
        let of = |text: &Option<String>| text.clone().unwrap_or_default();
        vec![
            operation.id.to_string(),
            operation.kind.clone(),
            operation.instance.clone(),
            operation.state.clone(),
            of(&operation.stage),
            of(&operation.step),
            time(operation.created_at),
            operation.reason(),
        ]
    });
    let mut text = table(&head, rows);
    if let Some(next) = &page.next {
        let _ = writeln!(text, "there are more: --after {next}");
    }
    text
}
