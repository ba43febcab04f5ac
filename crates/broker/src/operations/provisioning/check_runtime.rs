//! Waits until the provisioner has made the cluster, then asks the Director where its dashboard is.

use clients::provisioner::OperationState;
use serde_json::Value;
use store::broker::InstanceChange;

use super::Provisioning;
use crate::{
    following::for_operation,
    operations::{
        prelude::*,
        shared::{failed, missing_data, runtime_id, tenant, update_instance},
    },
};

/// The Director's label with the dashboard's address.
const CONSOLE: &str = "runtime_consoleUrl";

pub(super) struct CheckRuntime;

impl Step<Provisioning> for CheckRuntime {
    const NAME: &'static str = "Check_Runtime";
    const CALLS: &'static [&'static str] = &["provisioner", "director"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), mins(1)).backing_off(secs(5), mins(1));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let runtime = runtime_id(cx)?;
        let operation = cx.data.target_operation_id.as_deref();
        let operation =
            operation.ok_or_else(|| missing_data("the provisioner's operation is not known"))?;
        let tenant = tenant(&cx.input.order);
        let status = cx.env.provisioner.operation_status(tenant, operation).await?;
        match status.state {
            OperationState::Succeeded => {}
            OperationState::Pending | OperationState::InProgress => {
                let follower = cx.env.follower.as_ref();
                return for_operation(follower, tenant, &status, "the cluster is being made")
                    .into();
            }
            OperationState::Failed => return Err(failed(status)),
        }
        if let Some(url) = dashboard(cx, &runtime).await? {
            cx.data.dashboard_url = Some(url.clone());
            update_instance(
                cx,
                InstanceChange { dashboard_url: Some(url), ..InstanceChange::default() },
            )?;
        }
        done()
    }
}

/// Where the dashboard is, if the Director says so; the computed address serves otherwise. That the Director does not
/// know the runtime, or us, is no reason to give up a cluster that is there.
pub(super) async fn dashboard(
    cx: &Cx<'_, Provisioning>,
    runtime: &str,
) -> Result<Option<String>, StepError> {
    let Some(director) = &cx.env.director else { return Ok(None) };
    let account = &cx.input.order.context.globalaccount_id;
    match director.runtime(account, runtime).await.map_err(StepError::from) {
        Ok(found) => Ok(found.and_then(|found| {
            let label = found.labels.get(CONSOLE).and_then(Value::as_str);
            label.filter(|url| url.starts_with("https://")).map(str::to_owned)
        })),
        Err(StepError::Fatal(failure)) => {
            tracing::warn!(operation.id = %cx.operation, %failure, "the Director does not say where the dashboard is");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
