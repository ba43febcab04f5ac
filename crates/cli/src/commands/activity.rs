//! `kcp suspend` and `kcp resume`: remove the cluster of an instance for a while, and make it again.
//!
//! What a reader would get wrong: the broker answers both without an operation, because platforms wait for none. The operation
//! that is shown is the newest one of the instance.

use std::{path::Path, process::ExitCode};

use anyhow::Context as _;
use clap::Args;
use domain::OperationId;
use serde_json::json;

use super::{operations::follow, which};
use crate::{
    client::{Client, InstanceChange},
    confirm::Confirmation,
    output,
};

/// Remove the cluster of an instance until it is resumed; name and domain are kept.
#[derive(Args)]
pub(crate) struct Suspend {
    /// The instance, or the runtime of this name or Shoot if there is only one.
    #[arg(value_name = "NAME")]
    which: String,
    #[command(flatten)]
    confirmation: Confirmation,
    /// Watch until the cluster is gone. Fails when the removal does.
    #[arg(short, long)]
    watch: bool,
}

impl Suspend {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let instance = which::instance(&client, &self.which).await?;
        self.confirmation.ask(&format!("The cluster of instance {instance} is removed"))?;
        set_active(&client, &instance, false, self.watch).await
    }
}

/// Make a new cluster for a suspended instance, with its name and domain.
#[derive(Args)]
pub(crate) struct Resume {
    /// The instance, or the runtime of this name or Shoot if there is only one.
    #[arg(value_name = "NAME")]
    which: String,
    /// Watch until the cluster is made. Fails when the order does.
    #[arg(short, long)]
    watch: bool,
}

impl Resume {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let instance = which::instance(&client, &self.which).await?;
        set_active(&client, &instance, true, self.watch).await
    }
}

async fn set_active(
    client: &Client,
    instance: &str,
    active: bool,
    watch: bool,
) -> anyhow::Result<ExitCode> {
    let before = newest_operation(client, instance).await?;
    let context = Some(json!({"active": active}));
    let change = InstanceChange { plan: None, context, parameters: None };
    client.change_instance(instance, &change).await?;
    let operation =
        newest_operation(client, instance).await?.filter(|it| Some(it) != before.as_ref());
    let Some(operation) = operation else {
        let state = if active { "active" } else { "suspended" };
        output::print(&format!(
            "Instance   {instance}\nOperation  none: nothing changed (it is {state} already, or its plan is never suspended)\n"
        ))?;
        return Ok(ExitCode::SUCCESS);
    };
    output::print(&format!("Instance   {instance}\nOperation  {operation}\n"))?;
    if watch { follow::follow(client, &operation).await } else { Ok(ExitCode::SUCCESS) }
}

/// The newest operation of an instance.
async fn newest_operation(client: &Client, instance: &str) -> anyhow::Result<Option<OperationId>> {
    let query = [("instance", instance.to_owned()), ("limit", "1".to_owned())];
    let page = client.list(&query).await?;
    let Some(first) = page["operations"].get(0) else { return Ok(None) };
    let id = first["id"].as_str().context("the broker listed an operation without an id")?;
    Ok(Some(id.parse()?))
}
