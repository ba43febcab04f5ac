//! `kcp provision`: order a runtime, and perhaps watch how it is made.

mod parameters;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use serde_json::{Value, json};
use uuid::Uuid;

use super::operations::follow;
use crate::{
    client::Client,
    output::{self, Format},
};

/// Order a runtime.
#[derive(Args)]
#[command(after_help = "Example: kcp provision --plan aws --name dev --watch")]
pub(crate) struct Provision {
    /// The plan, by its name in the catalog.
    #[arg(short, long)]
    plan: String,
    /// What the runtime is called.
    #[arg(short, long)]
    name: String,
    /// The provider's region, where the plan lets choose.
    #[arg(short = 'R', long)]
    region: Option<String>,
    /// The region of the platform that orders.
    #[arg(long, value_name = "REGION", default_value = "cf-eu10")]
    platform_region: String,
    /// A further parameter; dots go deeper: oidc.clientID=me. Values may be JSON.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameters::given)]
    param: Vec<(String, Value)>,
    /// A file with further parameters, a JSON object; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
    /// The global account that it is for.
    #[arg(short = 'g', long, value_name = "ID", default_value = "local-account")]
    global_account: String,
    /// The subaccount that it is for.
    #[arg(short = 's', long, value_name = "ID", default_value = "local-subaccount")]
    subaccount: String,
    /// Who orders, and administers the cluster.
    #[arg(short, long, value_name = "MAIL", default_value = "developer@example.test")]
    user: String,
    /// The instance's id; a new one without it. The same order under the same id is harmless.
    #[arg(long, value_name = "UUID")]
    id: Option<Uuid>,
    /// Watch until it is made: each stage and step as it goes by. Fails when the order does.
    #[arg(short, long, conflicts_with = "output")]
    watch: bool,
    /// How the answer looks.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

impl Provision {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let region = Some(self.platform_region.as_str());
        let plan = client.catalog(region).await?.plan(&self.plan)?;
        let instance = self.id.unwrap_or_else(Uuid::new_v4).to_string();
        let order = json!({
            "service_id": plan.service_id,
            "plan_id": plan.plan_id,
            "context": {
                "platform": "kcp",
                "globalaccount_id": self.global_account,
                "subaccount_id": self.subaccount,
                "user_id": self.user,
            },
            "parameters": self.asked_for()?,
        });
        let ordered = client.order(region, &instance, &order).await?;
        let operation = ordered.operation;
        let dashboard = ordered.dashboard_url.unwrap_or_default();
        if self.output == Format::Json {
            let told = json!({
                "instance": instance, "operation": operation, "dashboard_url": dashboard,
            });
            output::json(&told)?;
            return Ok(ExitCode::SUCCESS);
        }
        let shown = operation.as_ref().map_or("none: it is complete".into(), ToString::to_string);
        output::print(&format!(
            "Instance   {instance}\nOperation  {shown}\nDashboard  {dashboard}\n"
        ))?;
        match operation {
            Some(operation) if self.watch => follow::follow(&client, &operation).await,
            _ => Ok(ExitCode::SUCCESS),
        }
    }

    /// The file's parameters, with those of the command line over them.
    fn asked_for(&self) -> anyhow::Result<Value> {
        let mut asked = match &self.parameters {
            Some(path) => parameters::read(path)?,
            None => json!({}),
        };
        for (key, value) in &self.param {
            parameters::set(&mut asked, key, value.clone())?;
        }
        parameters::set(&mut asked, "name", json!(self.name))?;
        if let Some(region) = &self.region {
            parameters::set(&mut asked, "region", json!(region))?;
        }
        Ok(asked)
    }
}
