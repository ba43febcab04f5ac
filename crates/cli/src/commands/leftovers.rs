//! `kcp leftovers`: what removals could not remove until another one has, and what may exist until somebody has looked.

use std::{collections::BTreeSet, path::Path, process::ExitCode};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    client::Client,
    confirm::Confirmation,
    output::{self, Format},
};

const HEAD: [&str; 6] = ["INSTANCE", "GLOBALACCOUNT", "PLAN", "REMOVED AT", "LEFT", "OPERATION"];
const MAY_EXIST: [&str; 6] = ["MAY EXIST", "SYSTEM", "ITS ID", "INSTANCE", "SINCE", "ENTRY"];

/// List what removals could not remove (`kcp deprovision INSTANCE` tries again), and what may exist after a lost answer.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Leftovers {
    #[command(subcommand)]
    command: Option<Command>,
    /// How the answer looks.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Subcommand)]
enum Command {
    /// Take something off the list of what may exist, after looking for it: it is not there, or has been removed by hand.
    Settle {
        /// The entries, as the list shows them.
        #[arg(value_name = "ENTRY", required = true)]
        entries: Vec<Uuid>,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

impl Leftovers {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        if let Some(Command::Settle { entries, confirmation }) = self.command {
            let names = entries.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            confirmation.ask(&format!("{names}: taken off the list of what may exist"))?;
            for entry in &entries {
                client.settle(entry).await?;
                output::print(&format!("{entry} is settled\n"))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let left = all("leftovers", async |after| client.leftovers(after).await).await?;
        let may_exist = all("may_exist", async |after| client.may_exist(after).await).await?;
        match self.output {
            Format::Json => output::json(&json!({"leftovers": left, "may_exist": may_exist}))?,
            Format::Table => {
                if left.is_empty() {
                    output::print("nothing is left of what was removed\n")?;
                } else {
                    output::print(&output::table(&HEAD, left.iter().map(row)))?;
                }
                if !may_exist.is_empty() {
                    let table = output::table(&MAY_EXIST, may_exist.iter().map(unconfirmed));
                    output::print(&format!("\n{table}"))?;
                    output::print("look for them, then: kcp leftovers settle ENTRY\n")?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// All pages of a list.
async fn all(
    field: &str,
    page: impl AsyncFn(Option<&str>) -> anyhow::Result<Value>,
) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut page = page(after.as_deref()).await?;
        if let Value::Array(found) = page[field].take() {
            all.extend(found);
        }
        match page["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => return Ok(all),
        }
    }
}

fn row(leftover: &Value) -> Vec<String> {
    let text = |field: &str| leftover[field].as_str().unwrap_or_default().to_owned();
    let left = leftover["left"].as_array().into_iter().flatten();
    let mut left: Vec<&str> = left.filter_map(|one| one["what"].as_str()).collect();
    // Two steps may be about one thing, and not stand side by side.
    let mut seen = BTreeSet::new();
    left.retain(|what| seen.insert(*what));
    vec![
        text("instance"),
        text("global_account"),
        text("plan_name"),
        text("since"),
        left.join("; "),
        text("operation"),
    ]
}

fn unconfirmed(thing: &Value) -> Vec<String> {
    let text = |field: &str| thing[field].as_str().unwrap_or_default().to_owned();
    let known_as = thing["known_as"].as_str().unwrap_or("not known").to_owned();
    vec![text("name"), text("system"), known_as, text("instance"), text("since"), text("id")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_that_two_steps_have_left_is_named_once() {
        let left = [
            ("Check_Runtime_Removal", "the cluster"),
            ("Release_Subscription", "the account"),
            ("Remove_Runtime", "the cluster"),
        ];
        let left = left.map(|(step, what)| json!({"step": step, "what": what}));

        let row = row(&json!({"instance": "i-1", "left": left}));

        assert_eq!(row[4], "the cluster; the account");
    }
}
