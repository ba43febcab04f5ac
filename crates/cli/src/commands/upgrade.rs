//! `kcp upgrade`: one change over many runtimes.

pub(super) mod targets;

use std::{fmt::Write as _, path::Path, process::ExitCode};

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{names::Names, operations::follow, orchestrations::watch, which::IdMatch};
use crate::{
    client::Client,
    confirm::Confirmation,
    hint,
    output::{self, Format, Head, Layout},
};
use targets::{Target, target, target_exclude};

const HEAD: [Head; 8] = [
    Head::Fixed("NAME"),
    Head::Fixed("SHOOT"),
    Head::Wide("GLOBALACCOUNT"),
    Head::Wide("SUBACCOUNT"),
    Head::Fixed("PLAN"),
    Head::Fixed("REGION"),
    Head::Fixed("WAVE"),
    Head::Text("NOT BEFORE"),
];

/// Upgrade Kyma or Kubernetes of many runtimes.
#[derive(Args)]
#[command(visible_alias = "u")]
pub(crate) struct Upgrade {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Upgrade Kyma.
    #[command(disable_version_flag = true)]
    Kyma(Kyma),
    /// Upgrade Kubernetes.
    #[command(disable_version_flag = true)]
    Cluster(Cluster),
}

#[derive(Args)]
struct Kyma {
    /// The version of Kyma: a release, PR-NUMBER, or BRANCH-COMMIT. Default: the broker's.
    #[arg(long)]
    version: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Cluster {
    /// The version of Kubernetes. Default: the catalog's.
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct Common {
    /// The runtimes: all, or comma-separated KEY=VALUE pairs that must all match. Keys: account, subaccount, region, kyma-version
    /// (regular expressions), runtime-id, instance-id, shoot, plan. May be repeated.
    #[arg(short, long, value_name = "TARGET", value_parser = target, required = true)]
    target: Vec<Target>,
    /// Runtimes to leave out, as in --target but not all. May be repeated.
    #[arg(short = 'e', long, value_name = "TARGET", value_parser = target_exclude)]
    target_exclude: Vec<Target>,
    /// The upgrade strategy.
    #[arg(long, default_value = "parallel", value_parser = ["parallel"])]
    strategy: String,
    /// The number of runtimes at a time.
    #[arg(long, default_value_t = 1)]
    parallel_workers: u32,
    /// The start: now, immediate, or a time such as 2026-12-31T22:00:00Z.
    #[arg(long, default_value = "now")]
    schedule: String,
    /// Wait for the maintenance window of each runtime.
    #[arg(long)]
    maintenancewindow: bool,
    /// The number of runtimes to upgrade first; the others follow when all of these have succeeded.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    canary: u32,
    /// Pause when more runtimes than this fail: a number, or a percentage such as 10%.
    #[arg(long, value_name = "NUMBER|PERCENT")]
    failure_budget: Option<String>,
    /// Do not notify customers.
    #[arg(long)]
    no_notification: bool,
    /// Tell customers, as the known client says it; where that is configured, they are notified without it.
    #[arg(long, hide = true, conflicts_with = "no_notification")]
    notification: bool,
    /// Start an orchestration that changes no runtime.
    #[arg(long)]
    dry_run: bool,
    /// Only show the selected runtimes.
    #[arg(long)]
    preview: bool,
    /// Watch the progress until the end. Fails when a runtime fails, or after a cancel.
    #[arg(short, long)]
    watch: bool,
    #[command(flatten)]
    confirmation: Confirmation,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Upgrade {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Kyma(Kyma { version, common }) => {
                let kyma = version.map_or(json!({}), |version| json!({ "version": version }));
                common.run(data, "kyma", ("kyma", kyma)).await
            }
            Command::Cluster(Cluster { kubernetes_version, common }) => {
                let version = kubernetes_version.unwrap_or_default();
                let kubernetes = json!({ "kubernetesVersion": version });
                common.run(data, "cluster", ("kubernetes", kubernetes)).await
            }
        }
    }
}

impl Common {
    async fn run(
        mut self,
        data: Option<&Path>,
        what: &str,
        (key, version): (&str, Value),
    ) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let enough = IdMatch::of_change(&self.confirmation, self.preview || self.dry_run);
        targets::resolve(&client, &mut self.target, enough).await?;
        targets::resolve(&client, &mut self.target_exclude, enough).await?;
        let mut body = self.body();
        body[key] = version;
        let preview = client.upgrade_preview(what, &body).await?;
        if self.preview {
            let Some(preview) = preview else { bail!("this broker has no preview") };
            show(&client, &preview, self.output).await?;
            return Ok(ExitCode::SUCCESS);
        }
        self.confirmation.ask(&self.question(what, preview.as_ref())?)?;
        let created = client.upgrade(what, &body).await?;
        let id = created["orchestrationID"].as_str().unwrap_or_default().to_owned();
        follow::begin(self.output, self.watch, &created, &id, || {
            format!("OrchestrationID: {id}\n")
        })?;
        if self.watch {
            return watch::watch(&client, &id, self.output).await;
        }
        if self.output == Format::Table {
            hint::next(data, &[format!("kcp orchestrations {id} --watch")]);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What is asked about. A broker without previews does not tell how many runtimes it is about.
    fn question(&self, what: &str, preview: Option<&Value>) -> anyhow::Result<String> {
        let how = if self.dry_run { " (dry run)" } else { "" };
        let Some(preview) = preview else {
            let mut chosen = targets::text(&self.target);
            if !self.target_exclude.is_empty() {
                chosen = format!("{chosen} without {}", targets::text(&self.target_exclude));
            }
            return Ok(format!("Upgrade {what} of the targets {chosen}{how}"));
        };
        let begins_now = matches!(self.schedule.as_str(), "now" | "immediate");
        if begins_now && preview["count"] == 0 {
            bail!("no runtime can be upgraded; --preview shows those that are left out");
        }
        let count = match preview["count"].as_u64() {
            Some(1) => "1 runtime gets".to_owned(),
            count => format!("{} runtimes get", count.unwrap_or_default()),
        };
        Ok(format!("{count} an upgrade of {what}{how}"))
    }

    fn body(&self) -> Value {
        let mut strategy = json!({
            "type": self.strategy,
            "schedule": self.schedule,
            "parallel": { "workers": self.parallel_workers },
            "maintenanceWindow": self.maintenancewindow,
            "canary": self.canary,
        });
        if let Some(budget) = &self.failure_budget {
            strategy["failureBudget"] = budget.as_str().into();
        }
        let objects = |targets: &[Target]| {
            targets.iter().map(|target| target.0.clone()).collect::<Vec<Value>>()
        };
        let mut body = json!({
            "targets": { "include": objects(&self.target), "exclude": objects(&self.target_exclude) },
            "strategy": strategy,
            "dryRun": self.dry_run,
        });
        if self.notification || self.no_notification {
            body["notification"] = self.notification.into();
        }
        body
    }
}

/// Shows which runtimes are meant, and which are left out.
async fn show(client: &Client, preview: &Value, format: Format) -> anyhow::Result<()> {
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let layout = Layout { head: &HEAD, name: "/shootName", empty: "" };
    let runtimes = preview["runtimes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let for_people = matches!(format, Format::Table | Format::Wide | Format::Known);
    let skipped = preview["skipped"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = Names::of(client, &[runtimes, skipped].concat(), "instanceID", format).await;
    let runtimes = names.added_to(runtimes, "instanceID");
    let skipped = names.added_to(skipped, "instanceID");
    let mut preview = preview.clone();
    preview["runtimes"] = json!(runtimes);
    preview["skipped"] = json!(skipped);
    format.list(&preview, &runtimes, &layout, |it| {
        let wave = if it["canary"] == true { "canary" } else { "all" };
        let shoot = text(it, "shootName");
        vec![
            names.name(&text(it, "instanceID"), &shoot),
            shoot,
            text(it, "globalAccountID"),
            text(it, "subAccountID"),
            text(it, "servicePlanName"),
            text(it, "region"),
            wave.to_owned(),
            text(it, "maintenanceWindowBegin"),
        ]
    })?;
    if !for_people {
        return Ok(());
    }
    let mut rest = String::new();
    for it in &skipped {
        let name = names.name(&text(it, "instanceID"), &text(it, "shootName"));
        let reason = text(it, "reason");
        let _ = writeln!(rest, "left out: {name}: {reason}");
    }
    let one = preview["count"] == 1;
    let _ = writeln!(rest, "{} runtime{}", preview["count"], if one { "" } else { "s" });
    output::print(&rest)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        common: Common,
    }

    #[test]
    fn customers_are_told_or_not_as_the_flags_say_and_as_the_broker_decides_without_them() {
        let sent = |flags: &[&str]| {
            let words = [&["upgrade", "--target", "all"][..], flags].concat();
            Line::parse_from(words).common.body()["notification"].clone()
        };

        assert_eq!(sent(&[]), Value::Null);
        assert_eq!(sent(&["--notification"]), json!(true));
        assert_eq!(sent(&["--no-notification"]), json!(false));
    }
}
