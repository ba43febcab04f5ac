//! `kcp leftovers`: what removals could not remove, until another one has.

use std::{path::Path, process::ExitCode};

use clap::Args;
use serde_json::{Value, json};

use crate::{
    client::Client,
    output::{self, Format},
};

const HEAD: [&str; 6] = ["INSTANCE", "GLOBALACCOUNT", "PLAN", "REMOVED AT", "LEFT", "OPERATION"];

/// List what removals could not remove; `kcp deprovision INSTANCE` tries again.
#[derive(Args)]
pub(crate) struct Leftovers {
    /// How the answer looks.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

impl Leftovers {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let mut all = Vec::new();
        let mut after = None;
        loop {
            let mut page = client.leftovers(after.as_deref()).await?;
            if let Value::Array(found) = page["leftovers"].take() {
                all.extend(found);
            }
            match page["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None => break,
            }
        }
        match self.output {
            Format::Json => output::json(&json!({ "leftovers": all }))?,
            Format::Table if all.is_empty() => {
                output::print("nothing is left of what was removed\n")?;
            }
            Format::Table => output::print(&output::table(&HEAD, all.iter().map(row)))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn row(leftover: &Value) -> Vec<String> {
    let text = |field: &str| leftover[field].as_str().unwrap_or_default().to_owned();
    let left = leftover["left"].as_array().into_iter().flatten();
    let left: Vec<&str> = left.filter_map(|one| one["what"].as_str()).collect();
    vec![
        text("instance"),
        text("global_account"),
        text("plan_name"),
        text("since"),
        left.join("; "),
        text("operation"),
    ]
}
