//! The known client's way to a kubeconfig: an operator's, with credentials, chosen by account and subaccount, account and runtime, or Shoot.

use std::{path::PathBuf, process::ExitCode};

use anyhow::bail;
use clap::Args;
use serde_json::Value;

use super::{
    super::which::{self, IdMatch},
    KubeconfigFile,
};
use crate::{call_error::NotFound, client::Client, confirm::Confirmation, output, view::Runtime};

/// Regions of the platform whose runtimes only people in the EU may touch.
const EU_ONLY: [&str; 2] = ["cf-eu11", "cf-ch20"];

/// Which runtime is meant.
#[derive(Args)]
pub(super) struct OfOperator {
    /// The global account, with --subaccount or --runtime-id.
    #[arg(short = 'g', long, value_name = "ID", group = "chosen")]
    account: Option<String>,
    /// The subaccount.
    #[arg(short, long, value_name = "ID", group = "chosen", requires = "account")]
    subaccount: Option<String>,
    /// The runtime: its id, a prefix of it, or its name.
    #[arg(short, long, value_name = "ID", group = "chosen", requires = "account")]
    runtime_id: Option<String>,
    /// The Shoot.
    #[arg(short = 'c', long, group = "chosen")]
    shoot: Option<String>,
}

impl OfOperator {
    /// Fetches it, and writes it to its file: one that is called like the cluster, unless another one is named.
    pub(super) async fn fetch(
        &self,
        client: &Client,
        kubeconfigs: &Client,
        mut file: KubeconfigFile,
        confirmation: &Confirmation,
    ) -> anyhow::Result<ExitCode> {
        let enough = IdMatch::of_change(confirmation, false);
        let runtime = self.runtime(client, enough).await?;
        if EU_ONLY.contains(&runtime.sub_account_region.as_str()) {
            let (shoot, region) = (&runtime.shoot_name, &runtime.sub_account_region);
            confirmation.ask(&format!("Only people in the EU may access {shoot} ({region})"))?;
        }
        if file.output.is_none()
            && !file.overwrite
            && kubeconfigs.address() == client.address()
            && let Ok(without) = client.kubeconfig(&runtime.instance_id).await
        {
            // The name is that of the kubeconfig for people, which has no credentials.
            KubeconfigFile {
                output: Some(file_of(&without, &runtime.shoot_name)?),
                overwrite: false,
            }
            .check()?;
        }
        let account = &runtime.global_account_id;
        let kubeconfig = kubeconfigs.operator_kubeconfig(account, &runtime.id, None).await?;
        if file.output.is_none() {
            file.output = Some(file_of(&kubeconfig, &runtime.shoot_name)?);
        }
        file.write(&kubeconfig)?;
        Ok(ExitCode::SUCCESS)
    }

    async fn runtime(&self, client: &Client, enough: IdMatch) -> anyhow::Result<Runtime> {
        let (account, shoot) = (&self.account, &self.shoot);
        if shoot.is_none() && (self.subaccount.is_none() && self.runtime_id.is_none()) {
            bail!(
                "at least one of the following options have to be specified: account/subaccount, \
                 account/runtime-id, shoot"
            );
        }
        let runtime_id = match &self.runtime_id {
            Some(word) => Some(which::runtime_id(client, word, enough).await?),
            None => None,
        };
        let fields = [
            ("account", account),
            ("subaccount", &self.subaccount),
            ("runtime_id", &runtime_id),
            ("shoot", shoot),
        ];
        let given = fields.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        let query: Vec<_> = given.chain([("op_detail", "last".to_owned())]).collect();
        let mut found = client.runtimes_seen(&query).await?;
        match found.len() {
            0 => Err(NotFound::new("no runtimes matched the input options").into()),
            1 => Ok(found.remove(0)),
            several => bail!("multiple runtimes ({several}) matched the input options"),
        }
    }
}

/// The file that a kubeconfig goes to by default.
fn file_of(kubeconfig: &str, shoot: &str) -> anyhow::Result<PathBuf> {
    Ok(PathBuf::from(format!("{}.yaml", name_in(kubeconfig, shoot)?)))
}

/// What the first cluster of a kubeconfig is called, or else the Shoot, as far as that can be a file.
fn name_in(kubeconfig: &str, shoot: &str) -> anyhow::Result<String> {
    let read: Value = serde_saphyr::from_str(kubeconfig).unwrap_or_default();
    let name = read["clusters"][0]["name"].as_str().or(read["current-context"].as_str());
    let plain = |name: &&str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed)
    };
    let Some(name) = name.filter(plain).or_else(|| Some(shoot).filter(plain)) else {
        let shoot = output::harmless(shoot, "");
        bail!("the Shoot's name \"{shoot}\" cannot be a file name: choose one with --output");
    };
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_like_the_cluster_or_the_shoot_and_stays_in_its_folder() {
        let named = |name: &str| format!("{{clusters: [{{name: '{name}'}}]}}");

        assert_eq!(name_in(&named("garden--c-1"), "c-1").unwrap(), "garden--c-1");
        for odd in ["../x", "/etc/x", ".hidden", ""] {
            assert_eq!(name_in(&named(odd), "c-1").unwrap(), "c-1", "{odd}");
            let error = name_in(&named(odd), odd).unwrap_err().to_string();
            assert!(error.contains("cannot be a file name"), "{odd}: {error}");
        }
    }
}
