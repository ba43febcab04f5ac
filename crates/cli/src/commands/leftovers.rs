//! `kcp leftovers`: what removals could not remove until another one has, and what may exist until somebody has looked.

use std::{collections::BTreeSet, path::Path, process::ExitCode};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use uuid::Uuid;

use super::which::{self, IdMatch};
use crate::{
    client::Client,
    confirm::Confirmation,
    hint,
    output::{self, Format, Head, Layout},
};

const HEAD: [Head; 6] = [
    Head::Fixed("INSTANCE"),
    Head::Wide("GLOBALACCOUNT"),
    Head::Fixed("PLAN"),
    Head::Wide("REMOVED AT"),
    Head::Wide("OPERATION"),
    Head::Text("LEFT"),
];
const MAY_EXIST: [Head; 6] = [
    Head::Fixed("ENTRY"),
    Head::Fixed("SYSTEM"),
    Head::Wide("ITS ID"),
    Head::Wide("INSTANCE"),
    Head::Wide("SINCE"),
    Head::Text("MAY EXIST"),
];

/// List what removals have left behind (`kcp deprovision INSTANCE` tries again), and what may exist after a lost response.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Leftovers {
    #[command(subcommand)]
    command: Option<Command>,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

#[derive(Subcommand)]
enum Command {
    /// Settle an entry of what may exist, once you have looked: it does not exist, or was removed by hand.
    Settle {
        /// The entries, as the list shows them, or parts of their ids.
        #[arg(value_name = "ENTRY", required = true)]
        entries: Vec<String>,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

impl Leftovers {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        if let Some(Command::Settle { entries, confirmation }) = self.command {
            let listed = all("may_exist", async |after| client.may_exist(after).await).await?;
            let enough = IdMatch::of_change(&confirmation, false);
            let entries = meant(&listed, &entries, enough)?;
            let names = entries.iter().map(|(_, called)| called.as_str()).collect::<Vec<_>>();
            let names = names.join(", ");
            confirmation.ask(&format!("Take off the list of what may exist: {names}"))?;
            for (entry, _) in &entries {
                client.settle(entry).await?;
                output::print(&format!("{entry} is settled\n"))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let left = all("leftovers", async |after| client.leftovers(after).await).await?;
        let may_exist = all("may_exist", async |after| client.may_exist(after).await).await?;
        let both = json!({"leftovers": left, "may_exist": may_exist});
        let empty = "nothing is left of what was removed";
        let layout = Layout { head: &HEAD, name: "/instance", empty };
        self.output.list(&both, &left, &layout, row)?;
        if matches!(self.output, Format::Table | Format::Wide) && !may_exist.is_empty() {
            output::print("\n")?;
            let layout = Layout { head: &MAY_EXIST, name: "/id", empty: "" };
            self.output.list(&both, &may_exist, &layout, unconfirmed)?;
            let kcp = hint::kcp();
            output::print(&format!("look for them, then: {kcp} leftovers settle ENTRY\n"))?;
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

/// The entries that are meant, each with what the question calls it.
fn meant(
    listed: &[Value],
    words: &[String],
    enough: IdMatch,
) -> anyhow::Result<Vec<(Uuid, String)>> {
    let ids: Vec<&str> = listed.iter().filter_map(|it| it["id"].as_str()).collect();
    let entry = |word: &String| -> anyhow::Result<(Uuid, String)> {
        let id = which::one_of("entry", word, &ids, enough)?;
        let thing = listed.iter().find(|it| it["id"] == id).map(unconfirmed).unwrap_or_default();
        let called = match thing.as_slice() {
            [id, system, .., name] => format!("{id} ({name} in {system})"),
            _ => id.to_owned(),
        };
        Ok((id.parse().context("an entry has an id of another form")?, called))
    };
    words.iter().map(entry).collect()
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
        text("operation"),
        left.join("; "),
    ]
}

fn unconfirmed(thing: &Value) -> Vec<String> {
    let text = |field: &str| thing[field].as_str().unwrap_or_default().to_owned();
    let known_as = thing["known_as"].as_str().unwrap_or("not known").to_owned();
    vec![text("id"), text("system"), known_as, text("instance"), text("since"), text("name")]
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

        assert_eq!(row[5], "the cluster; the account");
    }
}
