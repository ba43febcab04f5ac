//! `kcp deprovision`: remove a runtime, and perhaps watch how it goes.

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use clap::{ArgGroup, Args};

use super::operations::follow;
use crate::{client::Client, confirm::Confirmation, output};

/// Remove a runtime with everything that was made for it.
#[derive(Args)]
#[command(visible_alias = "d", group(ArgGroup::new("which").required(true)))]
pub(crate) struct Deprovision {
    /// The instance.
    #[arg(group = "which")]
    instance: Option<String>,
    /// The runtime of this name, if there is only one.
    #[arg(short, long, group = "which")]
    name: Option<String>,
    /// The runtime of this Shoot.
    #[arg(short = 'c', long, group = "which")]
    shoot: Option<String>,
    #[command(flatten)]
    confirmation: Confirmation,
    /// Watch until it is gone: each stage and step as it goes by. Fails when the removal does.
    #[arg(short, long)]
    watch: bool,
}

impl Deprovision {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let instance = match (&self.instance, &self.name, &self.shoot) {
            (Some(instance), ..) => instance.clone(),
            (_, Some(name), _) => only(&client, "name", name).await?,
            (_, _, Some(shoot)) => only(&client, "shoot", shoot).await?,
            _ => bail!("which runtime is to be removed is not said"),
        };
        self.confirmation.ask(&format!("Instance {instance} and its cluster are removed"))?;
        let operation = client.remove(&instance).await?;
        output::print(&format!("Instance   {instance}\nOperation  {operation}\n"))?;
        if self.watch { follow::follow(&client, &operation).await } else { Ok(ExitCode::SUCCESS) }
    }
}

/// The instance of the only runtime of that name or Shoot, in whatever state it is.
async fn only(client: &Client, what: &str, which: &str) -> anyhow::Result<String> {
    let mut query = vec![("state", "all".to_owned()), ("op_detail", "last".to_owned())];
    if what == "shoot" {
        query.push(("shoot", which.to_owned()));
    }
    let mut found = client.runtimes_seen(&query).await?;
    // The broker takes patterns; what is removed is named.
    found.retain(|it| if what == "shoot" { it.shoot_name == which } else { it.name() == which });
    match found.as_slice() {
        [] => bail!("there is no runtime of the {what} \"{which}\""),
        [one] => Ok(one.instance_id.clone()),
        several => {
            let ids: Vec<&str> = several.iter().map(|it| it.instance_id.as_str()).collect();
            bail!("several runtimes have the {what} \"{which}\": say which, {}", ids.join(", "))
        }
    }
}
