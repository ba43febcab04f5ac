//! `kcp bind`, `kcp unbind` and `kcp bindings`: credentials for a runtime, for a while.

use std::{path::Path, process::ExitCode};

use clap::Args;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    kubeconfig::{KubeconfigFile, seconds},
    which,
};
use crate::{
    client::Client,
    output::{self, Format, Head, Layout},
};

const HEAD: [Head; 5] = [
    Head::Fixed("BINDING"),
    Head::State("STATE"),
    Head::Wide("SECONDS"),
    Head::Wide("CREATED AT"),
    Head::Fixed("EXPIRES AT"),
];

/// Ask for a kubeconfig with credentials that expire.
#[derive(Args)]
pub(crate) struct Bind {
    /// The instance, or the runtime of this name or Shoot if there is only one.
    #[arg(value_name = "NAME")]
    which: String,
    /// The id of the binding; a new one if none is named. The same id again gives the same credentials.
    #[arg(long)]
    id: Option<String>,
    /// Lifetime of the credentials: 600, 10m, 2h. Default: the broker's.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    expires_in: Option<u64>,
    #[command(flatten)]
    file: KubeconfigFile,
}

impl Bind {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        self.file.check()?;
        let client = Client::connect(data)?;
        let instance = which::instance(&client, &self.which).await?;
        let binding = self.id.unwrap_or_else(|| Uuid::new_v4().to_string());
        let bound = client.bind(&instance, &binding, self.expires_in).await?;
        // Not on standard output, which belongs to the kubeconfig.
        let expires_at = &bound.metadata.expires_at;
        let told = format!("Binding {binding} of instance {instance} expires at {expires_at}");
        eprintln!("{}", output::harmless(&told, ""));
        self.file.write(&bound.credentials.kubeconfig)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// End a binding: its credentials are not accepted any more.
#[derive(Args)]
pub(crate) struct Unbind {
    /// The instance, or the runtime of this name or Shoot if there is only one.
    #[arg(value_name = "NAME")]
    which: String,
    /// The binding, as `kcp bindings` lists it.
    binding: String,
}

impl Unbind {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let instance = which::instance(&client, &self.which).await?;
        client.unbind(&instance, &self.binding).await?;
        output::print(&format!("Binding {} is removed\n", self.binding))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// List the bindings of a runtime.
#[derive(Args)]
pub(crate) struct Bindings {
    /// The instance, or the runtime of this name or Shoot if there is only one.
    #[arg(value_name = "NAME")]
    which: String,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Bindings {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let instance = which::instance(&client, &self.which).await?;
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
