//! `kcp deprovision`: remove a runtime, and perhaps watch how it goes.

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use clap::{ArgGroup, Args};
use clients::Kind;
use serde_json::json;
use uuid::Uuid;

use super::{
    dry_run::{CheckLevel, UnsentRequest},
    operations::follow,
    which::{self, IdMatch},
};
use crate::{
    call_error::NotFound,
    client::{Client, order_path},
    confirm::Confirmation,
    hint,
    output::Format,
    view::Runtime,
};

/// Remove a runtime and everything that was created for it.
#[derive(Args)]
#[command(visible_alias = "d", group(ArgGroup::new("which").required(true)))]
pub(crate) struct Deprovision {
    /// The instance: its id or a prefix of it, or the name or Shoot of its runtime.
    #[arg(group = "which", value_name = "NAME")]
    instance: Option<String>,
    /// The runtime of this name, if there is only one.
    #[arg(short, long, group = "which")]
    name: Option<String>,
    /// The runtime of this Shoot.
    #[arg(short = 'c', long, alias = "shootName", group = "which")]
    shoot: Option<String>,
    /// The runtime: its id, a prefix of it, or its name.
    #[arg(short, long, group = "which", value_name = "ID")]
    runtime_id: Option<String>,
    /// The only runtime of this subaccount.
    #[arg(short, long, group = "which", value_name = "ID")]
    subaccount: Option<String>,
    /// The global account, with --subaccount or --runtime-id.
    #[arg(short = 'g', long, value_name = "ID", conflicts_with = "instance")]
    account: Option<String>,
    #[command(flatten)]
    confirmation: Confirmation,
    /// Watch each stage and step until the runtime is removed. Fails when the removal fails.
    #[arg(short, long)]
    watch: bool,
    /// Only show the request, for a runtime that exists.
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Deprovision {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let (instance, called) = self.chosen(&client).await?;
        if self.dry_run {
            let path = client.removal_path(&instance).await?;
            let unsent =
                UnsentRequest { checked: CheckLevel::Exists, method: "DELETE", path, body: None };
            return unsent.show(self.output);
        }
        self.confirmation.ask(&format!("Remove {called} with its cluster"))?;
        let operation = client.remove(&instance).await?;
        let document = json!({"instance": instance, "operation": operation});
        follow::begin(self.output, self.watch, &document, &instance, || {
            format!("Instance   {instance}\nOperation  {operation}\n")
        })?;
        if self.watch {
            let order = order_path(None, &instance)?;
            return follow::follow_order(&client, &order, &operation, self.output).await;
        }
        if self.output == Format::Table {
            hint::next(data, &[format!("kcp operations {operation} --watch")]);
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Deprovision {
    /// The instance that is meant, and what the question calls it.
    async fn chosen(&self, client: &Client) -> anyhow::Result<(String, String)> {
        let enough = IdMatch::of_change(&self.confirmation, self.dry_run);
        if let Some(instance) = &self.instance {
            return any(client, instance, enough).await;
        }
        let words = [
            ("name", &self.name),
            ("shoot", &self.shoot),
            ("runtime_id", &self.runtime_id),
            ("subaccount", &self.subaccount),
        ];
        let word = words.into_iter().find_map(|(what, word)| Some((what, word.as_deref()?)));
        let Some((what, word)) = word else { bail!("name a runtime: NAME, --name or --shoot") };
        let found = only(client, what, word, self.account.as_deref()).await?;
        if what == "runtime_id" {
            which::check_whole(&found, word, enough)?;
        }
        Ok(described(found))
    }
}

/// The instance, and what the question calls it. Who may remove need not be allowed to list: then it is taken for the instance's id.
async fn any(client: &Client, which: &str, enough: IdMatch) -> anyhow::Result<(String, String)> {
    match which::runtime(client, which, enough).await {
        Err(error) if which::kind(&error) == Some(Kind::Unauthorized) => {
            Ok((which.to_owned(), format!("instance {which}")))
        }
        found => found.map(described),
    }
}

fn described(found: Runtime) -> (String, String) {
    let called = found.called();
    (found.instance_id, called)
}

/// The only runtime of that name, Shoot, id or subaccount, in whatever state it is.
async fn only(
    client: &Client,
    what: &'static str,
    which: &str,
    account: Option<&str>,
) -> anyhow::Result<Runtime> {
    let mut query = vec![("state", "all".to_owned()), ("op_detail", "last".to_owned())];
    // Parts of ids are compared here: the broker takes whole ones.
    if what != "name" && (what != "runtime_id" || Uuid::parse_str(which).is_ok()) {
        query.push((what, which.to_owned()));
    }
    query.extend(account.map(|account| ("account", account.to_owned())));
    let mut found = client.runtimes_seen(&query).await?;
    // The broker takes patterns; what is removed is named.
    found.retain(|it| match what {
        "shoot" => it.shoot_name == which,
        "runtime_id" => which::is_called(it, which) || which::begins(&it.id, which),
        "subaccount" => it.sub_account_id == which,
        _ => it.name() == which,
    });
    let what = what.replace('_', " ");
    match found.as_slice() {
        [] => Err(NotFound::new(format!("no runtime with the {what} \"{which}\"")).into()),
        [_] => Ok(found.remove(0)),
        several => {
            let ids: Vec<&str> = several.iter().map(|it| it.instance_id.as_str()).collect();
            bail!("several runtimes have the {what} \"{which}\": choose one of {}", ids.join(", "))
        }
    }
}
