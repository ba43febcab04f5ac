//! `kcp catalog`: the service plans that can be ordered.

use std::{path::Path, process::ExitCode};

use clap::Args;
use serde_json::Value;

use crate::{
    client::Client,
    output::{Format, Head, Layout},
};

const HEAD: [Head; 4] =
    [Head::Fixed("NAME"), Head::Wide("ID"), Head::Fixed("FREE"), Head::Text("DESCRIPTION")];

/// List the service plans that can be ordered.
#[derive(Args)]
pub(crate) struct ServicePlans {
    /// The region of the ordering platform.
    #[arg(long, value_name = "REGION", default_value = "cf-eu10")]
    platform_region: String,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl ServicePlans {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let catalog = client.whole_catalog(Some(&self.platform_region)).await?;
        let services = catalog["services"].as_array().into_iter().flatten();
        let plans: Vec<Value> = services
            .flat_map(|service| service["plans"].as_array().cloned().unwrap_or_default())
            .collect();
        let layout = Layout { head: &HEAD, name: "/name", empty: "the catalog is empty" };
        self.output.list(&catalog, &plans, &layout, row)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn row(plan: &Value) -> Vec<String> {
    let text = |field: &str| plan[field].as_str().unwrap_or_default().to_owned();
    let free = if plan["free"] == false { "no" } else { "yes" };
    vec![text("name"), text("id"), free.to_owned(), text("description")]
}
