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

use super::{
    upgrade::targets::{self, Target, target, target_exclude},
    which::IdMatch,
};
use crate::{
    client::Client,
    output::{Format, Head, Layout},
    view::Runtime,
};
use kubeconfigs::Kubeconfigs;
use run::Task;

const HEAD: [Head; 7] = [
    Head::Fixed("NAME"),
    Head::Fixed("SHOOT"),
    Head::Fixed("PLAN"),
    Head::Fixed("REGION"),
    Head::Wide("RUNTIME ID"),
    Head::Wide("GLOBALACCOUNT"),
    Head::Wide("SUBACCOUNT"),
];

/// Run a command for many runtimes, with the kubeconfig of each in its environment.
#[derive(Args)]
#[command(visible_alias = "task", visible_alias = "t")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Taskrun {
    /// The runtimes: all, or comma-separated KEY=VALUE pairs that must all match. Keys: account, subaccount, region, kyma-version
    /// (regular expressions), runtime-id, instance-id, shoot, plan. May be repeated.
    #[arg(short, long, value_name = "TARGET", value_parser = target, required = true)]
    target: Vec<Target>,
    /// Runtimes to leave out, as in --target but not all. May be repeated.
    #[arg(short = 'e', long, value_name = "TARGET", value_parser = target_exclude)]
    target_exclude: Vec<Target>,
    /// The number of runtimes at a time.
    #[arg(short, long, default_value_t = 4, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    parallelism: u16,
    /// The folder for kubeconfigs; existing ones are reused. Default: a temporary folder.
    #[arg(short, long, value_name = "DIR")]
    kubeconfig_dir: Option<PathBuf>,
    /// Keep the kubeconfigs; their access lasts for its time (8 hours with `kcp up`). Otherwise it ends with the command.
    #[arg(long)]
    keep_kubeconfig: bool,
    /// Do not fetch kubeconfigs.
    #[arg(long, conflicts_with_all = ["kubeconfig_dir", "keep_kubeconfig"])]
    no_kubeconfig: bool,
    /// Do not prefix the lines of output with the Shoot.
    #[arg(long)]
    no_prefix_output: bool,
    /// Run the command in this shell, for example "/bin/sh -c".
    #[arg(short, long, env = "KCP_SHELL", hide_env_values = true)]
    shell: Option<String>,
    /// Only show the selected runtimes.
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format, requires = "dry_run")]
    output: Format,
    /// The command and its arguments, after --.
    #[arg(last = true, required_unless_present = "dry_run", value_name = "COMMAND")]
    command: Vec<String>,
}

impl Taskrun {
    pub(crate) async fn run(mut self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let words = run::words(self.shell.as_deref(), &self.command);
        let client = Client::connect(data)?;
        targets::resolve(&client, &mut self.target, IdMatch::Part).await?;
        targets::resolve(&client, &mut self.target_exclude, IdMatch::Part).await?;
        let found = client.runtimes(&self.query(), None).await?;
        let chosen = select::chosen(&found, &self.target, &self.target_exclude)?;
        if self.dry_run {
            return self.show(&chosen);
        }
        if chosen.is_empty() {
            bail!("no runtime matches the target");
        }
        run::check(&words)?;
        let kubeconfigs = if self.no_kubeconfig {
            None
        } else {
            // Settings that cannot be used are reported before anything runs.
            Client::connect_to_kubeconfigs(data)?;
            let folder = self.kubeconfig_dir.as_deref();
            Some(Kubeconfigs::new(data, folder, self.keep_kubeconfig)?)
        };
        let runtimes: Vec<Runtime> = serde_json::from_value(json!(chosen))?;
        let task = Arc::new(Task { words, kubeconfigs, prefixed: !self.no_prefix_output });
        let all = runtimes.len();
        let running = run::for_all(task.clone(), runtimes, usize::from(self.parallelism));
        let ended = tokio::select! {
            failed = running => Ok(failed),
            // A signal ends the runs that are under way, and their kubeconfigs are removed.
            code = signals::ending() => Err(code),
        };
        if let Some(kubeconfigs) = &task.kubeconfigs {
            tokio::select! {
                () = kubeconfigs.end_access() => {}
                // Who presses Ctrl-C once more does not want to wait.
                code = signals::ending() => return Ok(ExitCode::from(code?)),
            }
            kubeconfigs.tell();
        }
        let failed = match ended {
            Ok(failed) => failed?,
            Err(code) => return Ok(ExitCode::from(code?)),
        };
        if failed > 0 {
            bail!("{failed}/{all} execution(s) failed");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Versions are listed with all operations only.
    fn query(&self) -> Vec<(&'static str, String)> {
        let mut targets = self.target.iter().chain(&self.target_exclude);
        let versions = targets.any(|it| it.0.get("kymaVersion").is_some());
        vec![("op_detail", if versions { "all" } else { "last" }.to_owned())]
    }

    fn show(&self, chosen: &[Value]) -> anyhow::Result<ExitCode> {
        let layout = Layout { head: &HEAD, name: "/shootName", empty: "no runtime fits" };
        let fields = [
            "/parameters/name",
            "/shootName",
            "/servicePlanName",
            "/region",
            "/runtimeID",
            "/globalAccountID",
            "/subAccountID",
        ];
        let text = |it: &Value, field: &str| {
            it.pointer(field).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let answer = json!({ "data": chosen, "count": chosen.len() });
        self.output.list(&answer, chosen, &layout, |it| {
            let mut row: Vec<String> = fields.map(|field| text(it, field)).into();
            if row[0].is_empty() {
                row[0] = text(it, "/shootName");
            }
            row
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
