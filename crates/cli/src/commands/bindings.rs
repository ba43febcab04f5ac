//! `kcp bind`, `kcp unbind` and `kcp bindings`: credentials for a runtime, for a while.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    dry_run::Unsent,
    kubeconfig::{KubeconfigFile, seconds},
    which,
};
use crate::{
    client::{Client, binding_path},
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
    /// Write the kubeconfig to this file, for its owner only; or json, yaml, name or custom=…: print the binding so.
    #[arg(short, long, value_name = "FILE|FORMAT")]
    output: Option<PathBuf>,
    /// Replace the file if it is there; nothing of it is kept.
    #[arg(long, requires = "output")]
    overwrite: bool,
    /// Only show what would be sent.
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
        let instance = which::instance(&client, &self.which).await?;
        let binding = self.id.unwrap_or_else(|| Uuid::new_v4().to_string());
        if self.dry_run {
            let body = self.expires_in.map(|it| json!({"parameters": {"expiration_seconds": it}}));
            let path = binding_path(&instance, &binding)?;
            let unsent = Unsent { method: "PUT", path, body: body.as_ref() };
            return unsent.show(format.unwrap_or_default());
        }
        let bound = client.bind(&instance, &binding, self.expires_in).await?;
        let expires_at = &bound.metadata.expires_at;
        if let Some(format) = format {
            let told = json!({
                "instance": instance, "binding": binding, "expires_at": expires_at,
                "kubeconfig": bound.credentials.kubeconfig,
            });
            format.show(&told, &binding, String::new)?;
            return Ok(ExitCode::SUCCESS);
        }
        // Not on standard output, which belongs to the kubeconfig.
        let told = format!("Binding {binding} of instance {instance} expires at {expires_at}");
        eprintln!("{}", output::harmless(&told, ""));
        file.write(&bound.credentials.kubeconfig)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A format that is named where a file could be. A file of such a name has a folder before it: `./json`.
fn format_of(path: &Path) -> anyhow::Result<Option<Format>> {
    let Some(Ok(format)) = path.to_str().map(str::parse::<Format>) else { return Ok(None) };
    if matches!(format, Format::Table | Format::Wide | Format::Known) {
        let word = path.display();
        bail!("a binding is no table: say json, yaml, name or custom=…, or ./{word} for a file");
    }
    Ok(Some(format))
}

/// End a binding: its credentials are not accepted any more.
#[derive(Args)]
pub(crate) struct Unbind {
    /// The instance, or the runtime of this name or Shoot if there is only one.
    #[arg(value_name = "NAME")]
    which: String,
    /// The binding, as `kcp bindings` lists it.
    binding: String,
    /// Only show what would be sent.
    #[arg(long)]
    dry_run: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Unbind {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let instance = which::instance(&client, &self.which).await?;
        let binding = self.binding;
        if self.dry_run {
            let path = binding_path(&instance, &binding)?;
            return Unsent { method: "DELETE", path, body: None }.show(self.output);
        }
        client.unbind(&instance, &binding).await?;
        let told = json!({"instance": instance, "binding": binding, "removed": true});
        self.output.show(&told, &binding, || format!("Binding {binding} is removed\n"))?;
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
