//! `kcp provision`: order a runtime, and perhaps watch how it is made.

use std::{path::Path, process::ExitCode};

use clap::Args;
use domain::OperationId;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    dry_run::{self, Unsent},
    operations::follow,
    parameters::{self, Parameters},
};
use crate::{
    client::{Client, order_path},
    hint,
    output::Format,
};

/// Order a runtime.
#[derive(Args)]
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
    #[command(flatten)]
    parameters: Parameters,
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
    #[arg(short, long)]
    watch: bool,
    /// Only show what would be sent; parameters are checked by the catalog.
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
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
            "parameters": self.order_parameters()?,
        });
        if self.dry_run {
            let schema = client.schema(region, &self.plan, "create").await?;
            dry_run::check(&schema, &order["parameters"])?;
            let path = format!("{}?accepts_incomplete=true", order_path(region, &instance)?);
            return Unsent { method: "PUT", path, body: Some(&order) }.show(self.output);
        }
        let ordered = client.order(region, &instance, &order).await?;
        let operation = ordered.operation;
        let dashboard = ordered.dashboard_url.unwrap_or_default();
        let shown = operation.as_ref().map_or("none: it is complete".into(), ToString::to_string);
        let told = json!({
            "instance": instance, "operation": operation, "dashboard_url": dashboard,
        });
        follow::begin(self.output, self.watch, &told, &instance, || {
            format!("Instance   {instance}\nOperation  {shown}\nDashboard  {dashboard}\n")
        })?;
        let code = match &operation {
            Some(operation) if self.watch => {
                follow::follow_as(&client, operation, self.output).await?
            }
            _ => ExitCode::SUCCESS,
        };
        if self.output == Format::Table {
            let open = operation.filter(|_| !self.watch || code != ExitCode::SUCCESS);
            hint::next(data, &self.next(open));
        }
        Ok(code)
    }

    /// What to type next: about the operation that runs or failed, or about the runtime that is there.
    fn next(&self, operation: Option<OperationId>) -> Vec<String> {
        let name = hint::quoted(&self.name);
        match operation {
            Some(operation) if self.watch => vec![
                format!("kcp operations retry {operation} --watch"),
                format!("kcp deprovision --name {name}"),
            ],
            Some(operation) => vec![format!("kcp operations {operation} --watch")],
            None => vec![
                format!(
                    "kcp bind {name} -o {name}.yaml && kubectl --kubeconfig {name}.yaml get namespaces"
                ),
                format!("kcp update {name} --param autoScalerMax=5 --watch"),
                format!("kcp deprovision --name {name} --watch"),
            ],
        }
    }

    /// The parameters with the name and the region.
    fn order_parameters(&self) -> anyhow::Result<Value> {
        let mut given = self.parameters.value()?.unwrap_or_else(|| json!({}));
        parameters::set(&mut given, "name", json!(self.name))?;
        if let Some(region) = &self.region {
            parameters::set(&mut given, "region", json!(region))?;
        }
        Ok(given)
    }
}
