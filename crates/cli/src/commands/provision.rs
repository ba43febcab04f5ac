//! `kcp provision`: order a runtime, and perhaps watch how it is made.

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use clap::Args;
use domain::OperationId;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    dry_run::{self, CheckLevel, UnsentRequest},
    operations::follow,
    parameters::{self, Parameters},
    which::{self, IdMatch},
};
use crate::{
    client::{Client, order_path},
    confirm::Confirmation,
    hint,
    output::Format,
};

/// Order a runtime.
#[derive(Args)]
pub(crate) struct Provision {
    /// The plan, by its name in the catalog.
    #[arg(short, long)]
    plan: String,
    /// The name of the runtime.
    #[arg(short, long)]
    name: String,
    /// The provider's region, for plans with a choice.
    #[arg(short = 'R', long)]
    region: Option<String>,
    /// The region of the ordering platform.
    #[arg(long, value_name = "REGION", default_value = "cf-eu10")]
    platform_region: String,
    #[command(flatten)]
    parameters: Parameters,
    /// The customer's global account; required for a remote control plane. Default on this machine: local-account.
    #[arg(short = 'g', long, value_name = "ID")]
    global_account: Option<String>,
    /// The customer's subaccount; required for a remote control plane. Default on this machine: local-subaccount.
    #[arg(short = 's', long, value_name = "ID")]
    subaccount: Option<String>,
    /// The ordering user, who becomes administrator of the cluster; required for a remote control plane. Default on this machine:
    /// developer@example.test.
    #[arg(short, long, value_name = "MAIL")]
    user: Option<String>,
    /// The id of the instance; a new one without it. Repeating an order with the same id is safe.
    #[arg(long, value_name = "UUID")]
    id: Option<Uuid>,
    #[command(flatten)]
    confirmation: Confirmation,
    /// Watch each stage and step until the runtime is ready. Fails when the order fails.
    #[arg(short, long)]
    watch: bool,
    /// Only show the request. The broker checks it like an order, with accounts, limits and the id; where it cannot, only the
    /// catalog's schema is checked.
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

/// For whom a runtime is ordered.
struct Owner {
    global_account: String,
    subaccount: String,
    user: String,
}

impl Provision {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let owner = self.owner(&client)?;
        let region = Some(self.platform_region.as_str());
        let plan = client.catalog(region).await?.plan(&self.plan)?;
        let instance = self.id.unwrap_or_else(Uuid::new_v4).to_string();
        let order = json!({
            "service_id": plan.service_id,
            "plan_id": plan.plan_id,
            "context": {
                "platform": "kcp",
                "globalaccount_id": owner.global_account,
                "subaccount_id": owner.subaccount,
                "user_id": owner.user,
            },
            "parameters": self.order_parameters()?,
        });
        if self.dry_run {
            let answer = client.check(Method::PUT, region, &instance, &order).await?;
            let (checked, runtime) = match answer {
                Some(mut answer) => {
                    let runtime = answer.get_mut("runtime").map(Value::take).unwrap_or_default();
                    (CheckLevel::ByBroker, runtime)
                }
                None => {
                    let schema = client.schema(region, &self.plan, "create").await?;
                    dry_run::check(&schema, &order["parameters"])?;
                    (CheckLevel::BySchema, Value::Null)
                }
            };
            let path = format!("{}?accepts_incomplete=true", order_path(region, &instance)?);
            let unsent = UnsentRequest { checked, method: "PUT", path, body: Some(&order) };
            return unsent.show_with(self.output, &runtime);
        }
        if !self.confirmation.is_given() {
            client.check(Method::PUT, region, &instance, &order).await?;
            let Owner { global_account, subaccount, user } = &owner;
            self.confirmation.ask(&format!(
                "Order runtime \"{}\" of plan {} for account {global_account}, subaccount {subaccount}, user {user}",
                self.name, self.plan
            ))?;
        }
        let ordered = client.order(region, &instance, &order).await?;
        let operation = ordered.operation;
        let dashboard = ordered.dashboard_url.unwrap_or_default();
        let shown = operation.as_ref().map_or("none: it is complete".into(), ToString::to_string);
        let document = json!({
            "instance": instance, "operation": operation, "dashboard_url": dashboard,
        });
        follow::begin(self.output, self.watch, &document, &instance, || {
            format!("Instance   {instance}\nOperation  {shown}\nDashboard  {dashboard}\n")
        })?;
        let code = match &operation {
            Some(operation) if self.watch => {
                let order = order_path(region, &instance)?;
                follow::follow_order(&client, &order, operation, self.output).await?
            }
            _ => ExitCode::SUCCESS,
        };
        if self.output == Format::Table {
            let open = operation.filter(|_| !self.watch || code != ExitCode::SUCCESS);
            let access = match open {
                Some(_) => None,
                None => self.access(&client, &instance, plan.bindable).await,
            };
            let resizes = open.is_none() && self.resizes(&client).await;
            hint::next(data, &self.next(open, access, resizes));
        }
        Ok(code)
    }

    /// For whom it is ordered. Only the control plane of this machine, a toy, has defaults.
    fn owner(&self, client: &Client) -> anyhow::Result<Owner> {
        let default = |word: &str| client.is_here().then(|| word.to_owned());
        let given = (
            self.global_account.clone().or_else(|| default("local-account")),
            self.subaccount.clone().or_else(|| default("local-subaccount")),
            self.user.clone().or_else(|| default("developer@example.test")),
        );
        let (Some(global_account), Some(subaccount), Some(user)) = given else {
            bail!(
                "an order to a remote control plane needs --global-account, --subaccount and --user"
            );
        };
        Ok(Owner { global_account, subaccount, user })
    }

    /// How to get into the runtime that is there; none for a cluster that was brought along. It is a hint: what cannot be looked up is
    /// left out.
    async fn access(&self, client: &Client, instance: &str, bindable: bool) -> Option<String> {
        let name = hint::quoted(&self.name);
        let fetch = if bindable {
            format!("kcp bind {name}")
        } else {
            let runtime = which::runtime(client, instance, IdMatch::Whole).await.ok()?;
            if runtime.service_plan_name == "own_cluster" {
                return None;
            }
            format!("kcp kubeconfig -c {}", hint::quoted(&runtime.shoot_name))
        };
        Some(format!("{fetch} -o {name}.yaml && kubectl --kubeconfig {name}.yaml get namespaces"))
    }

    /// Whether the plan lets the runtime have the number of nodes that the hint names.
    async fn resizes(&self, client: &Client) -> bool {
        let schema = client.schema(Some(&self.platform_region), &self.plan, "update").await;
        let most = &schema.unwrap_or_default()["properties"]["autoScalerMax"];
        let bound = |name: &str| most[name].as_u64().unwrap_or(5);
        most.is_object() && (bound("minimum")..=bound("maximum")).contains(&5)
    }

    /// The next commands: about the operation that runs or failed, or about the existing runtime.
    fn next(
        &self,
        operation: Option<OperationId>,
        access: Option<String>,
        resizes: bool,
    ) -> Vec<String> {
        let name = hint::quoted(&self.name);
        match operation {
            Some(operation) if self.watch => vec![
                format!("kcp operations retry {operation} --watch"),
                format!("kcp deprovision --name {name}"),
            ],
            Some(operation) => vec![format!("kcp operations {operation} --watch")],
            None => {
                let change = (access.is_some() && resizes)
                    .then(|| format!("kcp update {name} --param autoScalerMax=5 --watch"));
                let remove = format!("kcp deprovision --name {name} --watch");
                access.into_iter().chain(change).chain([remove]).collect()
            }
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
