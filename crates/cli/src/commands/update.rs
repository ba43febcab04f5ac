//! `kcp update`: change a runtime, and perhaps watch how it goes.

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    dry_run::{self, CheckLevel, UnsentRequest},
    operations::follow,
    parameters::Parameters,
    which::{self, IdMatch},
};
use crate::{
    client::{Client, InstanceChange, order_path},
    confirm::Confirmation,
    output::Format,
};

/// Change the parameters or the plan of a runtime.
#[derive(Args)]
pub(crate) struct Update {
    /// The instance: its id or a prefix of it, or the name or Shoot of its runtime.
    #[arg(value_name = "NAME")]
    which: String,
    #[command(flatten)]
    parameters: Parameters,
    /// The new plan, by its name in the catalog.
    #[arg(short, long)]
    plan: Option<String>,
    #[command(flatten)]
    confirmation: Confirmation,
    /// Watch each stage and step until the change has ended. Fails when the change fails.
    #[arg(short, long)]
    watch: bool,
    /// Only show the request. The broker checks it like a change of the runtime as it is now; where it cannot, only the catalog's
    /// schema is checked.
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
        let enough = IdMatch::of_change(&self.confirmation, self.dry_run);
        let runtime = which::runtime(&client, &self.which, enough).await?;
        let called = runtime.called();
        let instance = runtime.instance_id;
        let change = InstanceChange { plan: self.plan, context: None, parameters };
        if self.dry_run {
            let body = client.change_body(&change).await?;
            let answer = client.check(Method::PATCH, None, &instance, &body).await?;
            if let (None, Some(parameters)) = (&answer, &change.parameters) {
                let plan = change.plan.as_deref().unwrap_or(&runtime.service_plan_name);
                let region = Some(runtime.sub_account_region.as_str()).filter(|it| !it.is_empty());
                let schema = client.schema(region, plan, "update").await?;
                dry_run::check(&schema, parameters)?;
            }
            let checked =
                if answer.is_some() { CheckLevel::ByBroker } else { CheckLevel::BySchema };
            let path = format!("{}?accepts_incomplete=true", order_path(None, &instance)?);
            let unsent = UnsentRequest { checked, method: "PATCH", path, body: Some(&body) };
            return unsent.show(self.output);
        }
        if !self.confirmation.is_given() {
            let body = client.change_body(&change).await?;
            client.check(Method::PATCH, None, &instance, &body).await?;
            self.confirmation.ask(&format!("Change {} of {called}", changed(&change)))?;
        }
        let operation = client.change_instance(&instance, &change).await?;
        let shown = operation.as_ref().map_or("none: it is stored".into(), ToString::to_string);
        let document = json!({"instance": instance, "operation": operation});
        follow::begin(self.output, self.watch, &document, &instance, || {
            format!("Instance   {instance}\nOperation  {shown}\n")
        })?;
        match operation {
            Some(operation) if self.watch => {
                let order = order_path(None, &instance)?;
                follow::follow_order(&client, &order, &operation, self.output).await
            }
            _ => Ok(ExitCode::SUCCESS),
        }
    }
}

/// The parts of an instance that a change is about. Values may be secret and are not shown.
fn changed(change: &InstanceChange) -> String {
    let parameters = change.parameters.as_ref().and_then(Value::as_object);
    let names = parameters.into_iter().flatten().map(|(name, _)| name.clone());
    let plan = change.plan.iter().map(|plan| format!("the plan (to {plan})"));
    names.chain(plan).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_asked_about_by_names_without_values() {
        let parameters = Some(json!({"kubeconfig": "hush", "autoScalerMax": 9}));
        let change = InstanceChange { plan: Some("azure".into()), context: None, parameters };

        assert_eq!(changed(&change), "kubeconfig, autoScalerMax, the plan (to azure)");
    }
}
