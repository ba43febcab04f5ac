//! `kcp update`: change a runtime, and perhaps watch how it goes.

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use clap::Args;
use serde_json::json;

use super::{
    dry_run::{self, Unsent},
    operations::follow,
    parameters::Parameters,
    which,
};
use crate::{
    client::{Client, InstanceChange, order_path},
    output::Format,
};

/// Change the parameters or the plan of a runtime.
#[derive(Args)]
pub(crate) struct Update {
    /// The instance, or the runtime of this name or Shoot if there is only one.
    #[arg(value_name = "NAME")]
    which: String,
    #[command(flatten)]
    parameters: Parameters,
    /// Another plan, by its name in the catalog. Which plans can follow which is in the catalog.
    #[arg(short, long)]
    plan: Option<String>,
    /// Watch until it is changed: each stage and step as it goes by. Fails when the change does.
    #[arg(short, long)]
    watch: bool,
    /// Only show what would be sent; parameters are checked by the catalog.
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Update {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let parameters = self.parameters.value()?;
        if parameters.is_none() && self.plan.is_none() {
            bail!("nothing to change: give --param KEY=VALUE, --parameters FILE or --plan NAME");
        }
        let client = Client::connect(data)?;
        let runtime = which::runtime(&client, &self.which).await?;
        let instance = runtime.instance_id;
        let change = InstanceChange { plan: self.plan, context: None, parameters };
        if self.dry_run {
            if let Some(parameters) = &change.parameters {
                let plan = change.plan.as_deref().unwrap_or(&runtime.service_plan_name);
                let region = Some(runtime.sub_account_region.as_str()).filter(|it| !it.is_empty());
                let schema = client.schema(region, plan, "update").await?;
                dry_run::check(&schema, parameters)?;
            }
            let body = client.change_body(&change).await?;
            let path = format!("{}?accepts_incomplete=true", order_path(None, &instance)?);
            return Unsent { method: "PATCH", path, body: Some(&body) }.show(self.output);
        }
        let operation = client.change_instance(&instance, &change).await?;
        let shown = operation.as_ref().map_or("none: it is stored".into(), ToString::to_string);
        let told = json!({"instance": instance, "operation": operation});
        follow::begin(self.output, self.watch, &told, &instance, || {
            format!("Instance   {instance}\nOperation  {shown}\n")
        })?;
        match operation {
            Some(operation) if self.watch => {
                follow::follow_as(&client, &operation, self.output).await
            }
            _ => Ok(ExitCode::SUCCESS),
        }
    }
}
