//! `kcp kubeconfig`: how people reach a runtime.

mod operator;

use std::{
    fs::OpenOptions,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::{ArgGroup, Args};

use super::which::{self, IdMatch};
use crate::{client::Client, confirm::Confirmation, output};
use operator::OfOperator;

/// Fetch the kubeconfig of a runtime: by NAME one to log in with, without credentials; by the other flags one for operators, with
/// credentials, in a file.
#[derive(Args)]
#[command(visible_alias = "kc", group(ArgGroup::new("chosen").required(true).multiple(true)))]
pub(crate) struct Kubeconfig {
    /// The instance: its id or a prefix of it, or the name or Shoot of its runtime.
    #[arg(value_name = "NAME", group = "chosen", conflicts_with_all = ["account", "subaccount", "runtime_id", "shoot"])]
    which: Option<String>,
    #[command(flatten)]
    of_operator: OfOperator,
    #[command(flatten)]
    confirmation: Confirmation,
    #[command(flatten)]
    file: KubeconfigFile,
}

/// Where a kubeconfig goes.
#[derive(Args)]
pub(crate) struct KubeconfigFile {
    /// Write the kubeconfig to this file, readable by its owner alone, instead of printing it.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(super) overwrite: bool,
}

impl Kubeconfig {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        self.file.check()?;
        let client = Client::connect(data)?;
        let Some(which) = &self.which else {
            let kubeconfigs = Client::connect_to_kubeconfigs(data)?;
            return self
                .of_operator
                .fetch(&client, &kubeconfigs, self.file, &self.confirmation)
                .await;
        };
        if self.file.overwrite && self.file.output.is_none() {
            bail!("nothing is written: --overwrite needs --output FILE");
        }
        let instance = which::instance(&client, which, IdMatch::Part).await?;
        let kubeconfig = client.kubeconfig(&instance).await?;
        self.file.write(&kubeconfig)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl KubeconfigFile {
    /// A file that is replaced.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { output: Some(path), overwrite: true }
    }

    /// Refuses a file that would be replaced, before anything is asked for.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        match &self.output {
            Some(path) if path.exists() && !self.overwrite => Err(taken(path)),
            _ => Ok(()),
        }
    }

    /// Prints a kubeconfig, or writes it to its file and says so.
    pub(crate) fn write(&self, kubeconfig: &str) -> anyhow::Result<()> {
        let Some(path) = &self.output else { return output::print(kubeconfig) };
        if self.overwrite {
            // A file that is there keeps its permissions, and those are not ours.
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error)
                        .with_context(|| format!("{} cannot be replaced", path.display()));
                }
                _ => {}
            }
        }
        write_file(path, kubeconfig)?;
        output::print(&format!("Kubeconfig saved to {}\n", path.display()))
    }
}

/// Writes a new file for its owner alone.
pub(super) fn write_file(path: &Path, kubeconfig: &str) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(taken(path)),
        opened => opened.with_context(|| format!("{} cannot be written", path.display()))?,
    };
    Ok(file.write_all(kubeconfig.as_bytes())?)
}

fn taken(path: &Path) -> anyhow::Error {
    let shown = path.display();
    anyhow::anyhow!(
        "{shown} exists: choose another file, or say --overwrite; kubeconfigs are never merged"
    )
}

/// How long, as a person writes it: `600`, `10m`, `2h`.
pub(crate) fn seconds(text: &str) -> anyhow::Result<u64> {
    let (number, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let Ok(number) = number.parse::<u64>() else { bail!("invalid lifetime: write 600, 10m or 2h") };
    let each = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => bail!("invalid lifetime: write 600, 10m or 2h"),
    };
    number.checked_mul(each).context("the lifetime is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(seconds("600").unwrap(), 600);
        assert_eq!(seconds("10m").unwrap(), 600);
        assert_eq!(seconds("2h").unwrap(), 7200);
        for wrong in ["", "m", "1d", "-1", "1.5h", "99999999999999999999"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_is_replaced_only_when_that_is_said_and_nobody_else_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.yaml");
        let file = |overwrite| KubeconfigFile { output: Some(path.clone()), overwrite };
        std::fs::write(&path, "mine").unwrap();

        let refused = file(false).check().unwrap_err().to_string();
        assert!(refused.contains("never merged"), "{refused}");
        assert!(file(false).write("other").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        file(true).write("other").unwrap();

        assert_eq!(std::fs::read_to_string(&path).unwrap(), "other");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
