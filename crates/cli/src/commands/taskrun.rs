//! `kcp taskrun`: one command for many runtimes, each with its own kubeconfig.
//!
//! What a reader would get wrong: the garden is not asked. Which runtimes are meant comes from the broker alone, so that a broker anywhere
//! is enough.

mod kubeconfigs;
mod run;
mod select;
mod signals;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};

use super::upgrade::targets::{Target, target, target_exclude};
use crate::{
    client::Client,
    output::{Format, Head, Layout},
    view::Runtime,
};
use kubeconfigs::Kubeconfigs;
use run::Task;

const HEAD: [Head; 6] = [
    Head::Fixed("SHOOT"),
    Head::Fixed("PLAN"),
    Head::Fixed("REGION"),
    Head::Wide("RUNTIME ID"),
    Head::Fixed("GLOBALACCOUNT"),
    Head::Fixed("SUBACCOUNT"),
];

/// Run a command for many runtimes, with the kubeconfig of each in its environment.
#[derive(Args)]
#[command(visible_alias = "task", visible_alias = "t")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Taskrun {
    /// Which runtimes: all, or KEY=VALUE pairs with commas between them, which must all fit. Keys: account, subaccount, region,
    /// kyma-version (regular expressions), runtime-id, instance-id, shoot, plan. May be repeated.
    #[arg(short, long, value_name = "TARGET", value_parser = target, required = true)]
    target: Vec<Target>,
    /// Which of them not; as in --target, without all. May be repeated.
    #[arg(short = 'e', long, value_name = "TARGET", value_parser = target_exclude)]
    target_exclude: Vec<Target>,
    /// How many at a time.
    #[arg(short, long, default_value_t = 4, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    parallelism: u16,
    /// The folder for kubeconfigs; one that is there is used again. A folder for this run without it.
    #[arg(short, long, value_name = "DIR")]
    kubeconfig_dir: Option<PathBuf>,
    /// Keep the kubeconfigs.
    #[arg(long)]
    keep_kubeconfig: bool,
    /// Fetch no kubeconfigs.
    #[arg(long, conflicts_with_all = ["kubeconfig_dir", "keep_kubeconfig"])]
    no_kubeconfig: bool,
    /// Do not begin each line of output with the Shoot.
    #[arg(long)]
    no_prefix_output: bool,
    /// Run it through this shell, as in \"/bin/sh -c\".
    #[arg(short, long, env = "KCP_SHELL")]
    shell: Option<String>,
    /// Only show which runtimes are meant.
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format, requires = "dry_run")]
    output: Format,
    /// The command and its arguments, behind --.
    #[arg(last = true, required_unless_present = "dry_run", value_name = "COMMAND")]
    command: Vec<String>,
}

impl Taskrun {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let words = run::words(self.shell.as_deref(), &self.command);
        let client = Client::connect(data)?;
        let found = client.runtimes(&self.query(), None).await?;
        let chosen = select::chosen(&found, &self.target, &self.target_exclude)?;
        if self.dry_run {
            return self.show(&chosen);
        }
        if chosen.is_empty() {
            bail!("no runtime fits the target");
        }
        run::check(&words)?;
        let kubeconfigs = if self.no_kubeconfig {
            None
        } else {
            // Settings that cannot be used are told before anything runs.
            Client::connect_to_kubeconfigs(data)?;
            let folder = self.kubeconfig_dir.as_deref();
            Some(Kubeconfigs::new(data, folder, self.keep_kubeconfig)?)
        };
        let runtimes: Vec<Runtime> = serde_json::from_value(json!(chosen))?;
        let task = Arc::new(Task { words, kubeconfigs, prefixed: !self.no_prefix_output });
        let all = runtimes.len();
        let running = run::for_all(task.clone(), runtimes, usize::from(self.parallelism));
        let failed = tokio::select! {
            failed = running => failed?,
            // A signal ends the runs that are under way, and their kubeconfigs are removed.
            code = signals::ending() => return Ok(ExitCode::from(code?)),
        };
        if let Some(kubeconfigs) = &task.kubeconfigs {
            kubeconfigs.tell();
        }
        if failed > 0 {
            bail!("{failed}/{all} execution(s) failed");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Versions are told with all operations only.
    fn query(&self) -> Vec<(&'static str, String)> {
        let mut targets = self.target.iter().chain(&self.target_exclude);
        let versions = targets.any(|it| it.0.get("kymaVersion").is_some());
        vec![("op_detail", if versions { "all" } else { "last" }.to_owned())]
    }

    fn show(&self, chosen: &[Value]) -> anyhow::Result<ExitCode> {
        let layout = Layout { head: &HEAD, name: "/shootName", empty: "no runtime fits" };
        let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
        let keys = [
            "shootName",
            "servicePlanName",
            "region",
            "runtimeID",
            "globalAccountID",
            "subAccountID",
        ];
        let answer = json!({ "data": chosen, "count": chosen.len() });
        self.output
            .list(&answer, chosen, &layout, |it| keys.iter().map(|key| text(it, key)).collect())?;
        Ok(ExitCode::SUCCESS)
    }
}
