//! `kcp suspend` and `kcp resume`: remove the cluster of an instance for a while, and make it again.
//!
//! What a reader would get wrong: brokers answer both without an operation, because platforms wait for none. The operation
//! that is shown is the newest one of the instance, where the broker lists operations: the original does not.

use std::{path::Path, process::ExitCode};

use anyhow::{Context as _, bail};
use clap::Args;
use domain::OperationId;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    dry_run::{CheckLevel, UnsentRequest},
    operations::follow,
    which::{self, IdMatch},
};
use crate::{
    client::{Client, InstanceChange, is_no_route, order_path},
    confirm::Confirmation,
    hint,
    output::Format,
};

/// Suspend an instance: remove its cluster, keep its name and domain.
#[derive(Args)]
pub(crate) struct Suspend {
    /// The instance: its id or a prefix of it, or the name or Shoot of its runtime.
    #[arg(value_name = "NAME")]
    which: String,
    #[command(flatten)]
    confirmation: Confirmation,
    /// Watch until the cluster is removed. Fails when the suspension fails.
    #[arg(short, long)]
    watch: bool,
    /// Only show the request; the broker checks it.
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Suspend {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let enough = IdMatch::of_change(&self.confirmation, self.dry_run);
        let runtime = which::runtime(&client, &self.which, enough).await?;
        let called = runtime.called();
        let instance = runtime.instance_id;
        let change = Change { active: false, watch: self.watch, output: self.output };
        if self.dry_run {
            return change.unsent(&client, &instance).await;
        }
        if change.is_made(&client, &instance).await? {
            return change.show(&instance, &change.unchanged(), None);
        }
        self.confirmation.ask(&format!("Remove the cluster of {called} until it is resumed"))?;
        change.send(&client, &instance).await
    }
}

/// Resume a suspended instance: create a new cluster with the same name and domain.
#[derive(Args)]
pub(crate) struct Resume {
    /// The instance: its id or a prefix of it, or the name or Shoot of its runtime.
    #[arg(value_name = "NAME")]
    which: String,
    #[command(flatten)]
    confirmation: Confirmation,
    /// Watch until the cluster is ready. Fails when the resumption fails.
    #[arg(short, long)]
    watch: bool,
    /// Only show the request; the broker checks it.
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Resume {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let enough = IdMatch::of_change(&self.confirmation, self.dry_run);
        let runtime = which::runtime(&client, &self.which, enough).await?;
        let called = runtime.called();
        let instance = runtime.instance_id;
        let change = Change { active: true, watch: self.watch, output: self.output };
        if self.dry_run {
            return change.unsent(&client, &instance).await;
        }
        if change.is_made(&client, &instance).await? {
            return change.show(&instance, &change.unchanged(), None);
        }
        self.confirmation.ask(&format!("Make a new cluster for {called}"))?;
        change.send(&client, &instance).await
    }
}

/// A change between suspended and active.
struct Change {
    active: bool,
    watch: bool,
    output: Format,
}

impl Change {
    fn body(&self) -> InstanceChange {
        let context = Some(json!({"active": self.active}));
        InstanceChange { plan: None, context, parameters: None }
    }

    async fn unsent(&self, client: &Client, instance: &str) -> anyhow::Result<ExitCode> {
        let answer = self.checked(client, instance).await?;
        let checked = if answer.is_some() { CheckLevel::ByBroker } else { CheckLevel::Exists };
        let body = client.change_body(&self.body()).await?;
        let path = format!("{}?accepts_incomplete=true", order_path(None, instance)?);
        UnsentRequest { checked, method: "PATCH", path, body: Some(&body) }.show(self.output)
    }

    /// What the broker says about the change before it is made; none if it cannot.
    async fn checked(&self, client: &Client, instance: &str) -> anyhow::Result<Option<Value>> {
        let body = client.change_body(&self.body()).await?;
        client.check(Method::PATCH, None, instance, &body).await
    }

    /// Whether the broker says that nothing would change: then nothing is sent, and nothing is asked.
    async fn is_made(&self, client: &Client, instance: &str) -> anyhow::Result<bool> {
        let checked = self.checked(client, instance).await?;
        Ok(checked.is_some_and(|it| it["changes"] != "activity"))
    }

    /// Shows what was begun, or that nothing was.
    fn show(
        &self,
        instance: &str,
        shown: &str,
        operation: Option<&OperationId>,
    ) -> anyhow::Result<ExitCode> {
        let document = json!({"instance": instance, "operation": operation});
        follow::begin(self.output, self.watch, &document, instance, || {
            format!("Instance   {instance}\nOperation  {shown}\n")
        })?;
        Ok(ExitCode::SUCCESS)
    }

    async fn send(&self, client: &Client, instance: &str) -> anyhow::Result<ExitCode> {
        let before = newest_operation(client, instance).await?;
        let named = client.change_instance(instance, &self.body()).await?;
        let operation = match (named, before) {
            (Some(named), _) => Some(named),
            (None, Some(before)) => {
                let newest = newest_operation(client, instance).await?.unwrap_or_default();
                newest.into_iter().find(|it| !before.contains(it))
            }
            (None, None) => return self.unnamed(instance),
        };
        let shown = operation.as_ref().map_or_else(|| self.unchanged(), ToString::to_string);
        let code = self.show(instance, &shown, operation.as_ref())?;
        match operation {
            Some(operation) if self.watch => {
                let order = order_path(None, instance)?;
                follow::follow_order(client, &order, &operation, self.output).await
            }
            _ => Ok(code),
        }
    }

    /// The change was accepted by a broker that does not say under which operation.
    fn unnamed(&self, instance: &str) -> anyhow::Result<ExitCode> {
        let look = format!("{} runtimes -S all -i {instance}", hint::kcp());
        let code = self.show(instance, &format!("not named by this broker: {look}"), None)?;
        if self.watch {
            bail!(
                "it is accepted, and cannot be watched: this broker names no operation for it: {look}"
            );
        }
        Ok(code)
    }

    fn unchanged(&self) -> String {
        let state = if self.active { "active" } else { "suspended" };
        format!("none: nothing changed (it is {state} already, or its plan is never suspended)")
    }
}

/// The newest operation of an instance, one at most; none from a broker that lists no operations.
async fn newest_operation(
    client: &Client,
    instance: &str,
) -> anyhow::Result<Option<Vec<OperationId>>> {
    let query = [("instance", instance.to_owned()), ("limit", "1".to_owned())];
    let page = match client.list(&query).await {
        Err(error) if is_no_route(&error) => return Ok(None),
        page => page?,
    };
    let Some(first) = page["operations"].get(0) else { return Ok(Some(Vec::new())) };
    let id = first["id"].as_str().context("the broker listed an operation without an id")?;
    Ok(Some(vec![id.parse()?]))
}
