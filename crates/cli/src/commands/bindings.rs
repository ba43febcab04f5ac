//! `kcp bind`, `kcp unbind` and `kcp bindings`: credentials for a runtime, for a while.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::bail;
use clap::Args;
use clients::Kind;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    dry_run::{CheckLevel, UnsentRequest},
    kubeconfig::{KubeconfigFile, seconds},
    which::{self, IdMatch},
};
use crate::{
    client::{Client, binding_path},
    confirm::Confirmation,
    output::{self, Format, Head, Layout},
    view::Runtime,
};

const HEAD: [Head; 5] = [
    Head::Fixed("BINDING"),
    Head::State("STATE"),
    Head::Wide("SECONDS"),
    Head::Wide("CREATED AT"),
    Head::Fixed("EXPIRES AT"),
];

/// Create a binding: a kubeconfig with credentials that expire.
#[derive(Args)]
pub(crate) struct Bind {
    /// The instance: its id or a prefix of it, or the name or Shoot of its runtime.
    #[arg(value_name = "NAME")]
    which: String,
    /// The id of the binding; a new one without it. Repeating the same id returns the same credentials.
    #[arg(long)]
    id: Option<String>,
    /// The lifetime of the credentials: 600, 10m, 2h. Default: the broker's.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    expires_in: Option<u64>,
    /// Write the kubeconfig to this file, for its owner only; or json, yaml, name or custom=…: print the binding so.
    #[arg(short, long, value_name = "FILE|FORMAT")]
    output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    overwrite: bool,
    #[command(flatten)]
    confirmation: Confirmation,
    /// Only show the request, for a runtime that is ready and whose plan has bindings.
    #[arg(long)]
    dry_run: bool,
}

impl Bind {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let format = self.output.as_deref().map(format_of).transpose()?.flatten();
        let output = self.output.filter(|_| format.is_none());
        let file = KubeconfigFile { output, overwrite: self.overwrite };
        file.check()?;
        let client = Client::connect(data)?;
        let enough = IdMatch::of_change(&self.confirmation, self.dry_run);
        let runtime = which::runtime(&client, &self.which, enough).await?;
        if self.dry_run || !self.confirmation.is_given() {
            let checked = bindable(&client, &runtime).await;
            checked.map_err(|error| if self.dry_run { error.context("dry run") } else { error })?;
        }
        let called = runtime.called();
        let instance = runtime.instance_id;
        let binding = self.id.unwrap_or_else(|| Uuid::new_v4().to_string());
        if self.dry_run {
            let body = self.expires_in.map(|it| json!({"parameters": {"expiration_seconds": it}}));
            let path = binding_path(&instance, &binding)?;
            let checked = CheckLevel::Exists;
            let unsent = UnsentRequest { checked, method: "PUT", path, body: body.as_ref() };
            return unsent.show(format.unwrap_or_default());
        }
        self.confirmation.ask(&format!("Make credentials for {called}"))?;
        let bound = client.bind(&instance, &binding, self.expires_in).await?;
        let expires_at = &bound.metadata.expires_at;
        if let Some(format) = format {
            let document = json!({
                "instance": instance, "binding": binding, "expires_at": expires_at,
                "kubeconfig": bound.credentials.kubeconfig,
            });
            format.show(&document, &binding, String::new)?;
            return Ok(ExitCode::SUCCESS);
        }
        // Not on standard output, which belongs to the kubeconfig.
        let line = format!("Binding {binding} of instance {instance} expires at {expires_at}");
        eprintln!("{}", output::harmless(&line, ""));
        file.write(&bound.credentials.kubeconfig)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Refuses what the broker would refuse to bind, as far as its lists tell.
async fn bindable(client: &Client, runtime: &Runtime) -> anyhow::Result<()> {
    let plan = &runtime.service_plan_name;
    let region = Some(runtime.sub_account_region.as_str()).filter(|region| !region.is_empty());
    if !client.catalog(region).await?.plan(plan)?.bindable {
        bail!("plan \"{plan}\" is not bindable");
    }
    if !runtime.status.is_ready() {
        bail!("the {} has no ready cluster", runtime.called());
    }
    Ok(())
}

/// A format that is named where a file could be. A file of such a name has a folder before it: `./json`.
fn format_of(path: &Path) -> anyhow::Result<Option<Format>> {
    let Some(Ok(format)) = path.to_str().map(str::parse::<Format>) else { return Ok(None) };
    if matches!(format, Format::Table | Format::Wide | Format::Known) {
        let word = path.display();
        bail!(
            "a binding is not printed as a table: use json, yaml, name or custom=…, or ./{word} for a file"
        );
    }
    Ok(Some(format))
}

/// Delete a binding and revoke its credentials.
#[derive(Args)]
pub(crate) struct Unbind {
    /// The instance: its id or a prefix of it, or the name or Shoot of its runtime.
    #[arg(value_name = "NAME")]
    which: String,
    /// The binding, as `kcp bindings` lists it, or a part of its id.
    binding: String,
    #[command(flatten)]
    confirmation: Confirmation,
    /// Only show the request, for a binding that exists.
    #[arg(long)]
    dry_run: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Unbind {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let enough = IdMatch::of_change(&self.confirmation, self.dry_run);
        let runtime = which::runtime(&client, &self.which, enough).await?;
        let binding = self.binding(&client, &runtime.instance_id, enough).await?;
        let called = runtime.called();
        let instance = runtime.instance_id;
        if self.dry_run {
            let path = binding_path(&instance, &binding)?;
            let unsent =
                UnsentRequest { checked: CheckLevel::Exists, method: "DELETE", path, body: None };
            return unsent.show(self.output);
        }
        self.confirmation
            .ask(&format!("End binding {binding} of {called} with its credentials"))?;
        client.unbind(&instance, &binding).await?;
        let document = json!({"instance": instance, "binding": binding, "removed": true});
        self.output.show(&document, &binding, || format!("Binding {binding} is removed\n"))?;
        Ok(ExitCode::SUCCESS)
    }

    /// The id of the binding. A broker that lists no bindings, or not for this caller, ends one by its whole id all the same.
    async fn binding(
        &self,
        client: &Client,
        instance: &str,
        enough: IdMatch,
    ) -> anyhow::Result<String> {
        let is_whole = enough == IdMatch::Whole || Uuid::parse_str(&self.binding).is_ok();
        match which::binding(client, instance, &self.binding, enough).await {
            Err(error) if is_whole && !self.dry_run && is_not_listed(&error) => {
                Ok(self.binding.clone())
            }
            found => found,
        }
    }
}

/// Whether the list is not there for this caller.
fn is_not_listed(error: &anyhow::Error) -> bool {
    let refused = [Kind::NotFound, Kind::Unauthorized, Kind::Refused { status: 405 }];
    which::kind(error).is_some_and(|kind| refused.contains(&kind))
}

/// List the bindings of a runtime.
#[derive(Args)]
pub(crate) struct Bindings {
    /// The instance: its id or a prefix of it, or the name or Shoot of its runtime.
    #[arg(value_name = "NAME")]
    which: String,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Bindings {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let instance = which::instance(&client, &self.which, IdMatch::Part).await?;
        let found = client.bindings(&instance).await?;
        let layout = Layout { head: &HEAD, name: "/id", empty: "there are no bindings" };
        self.output.list(&json!({ "bindings": found }), &found, &layout, row)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn row(binding: &Value) -> Vec<String> {
    let text = |field: &str| binding[field].as_str().unwrap_or_default().to_owned();
    let seconds = binding["expiration_seconds"].to_string();
    vec![text("id"), text("state"), seconds, text("created_at"), text("expires_at")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_do_not_go_into_a_file_that_is_called_like_a_format() {
        let read = |text: &str| format_of(Path::new(text));

        assert_eq!(read("json").unwrap(), Some(Format::Json));
        for file in ["k.yaml", "./table", "./json"] {
            assert_eq!(read(file).unwrap(), None, "{file}");
        }
        for word in ["table", "wide", "known"] {
            let error = read(word).unwrap_err().to_string();
            assert!(error.ends_with(&format!("or ./{word} for a file")), "{error}");
        }
    }
}
