//! Begins to collect what the runtime is ordered with; once it is ordered, waits for it and ends the operation.

use clients::{ias::ProviderKind, provisioner::OperationState};
use engine::step::finish;
use store::broker::InstanceChange;
use url::Url;

use super::super::{
    Provisioning, check_runtime::dashboard, provision_initialization::ProvisionInitialization,
    starting::take_over,
};
use crate::{
    following::for_operation,
    operations::{
        prelude::*,
        shared::{failed, missing_data, outlasted, runtime_id, tenant, update_instance},
    },
};

/// How long IAS may fail to hear where the dashboards are.
const PATIENCE: Duration = mins(10);

pub(super) struct Initialization;

impl Step<Provisioning> for Initialization {
    const NAME: &'static str = "Initialization";
    const CALLS: &'static [&'static str] =
        &["control plane", "kyma releases", "provisioner", "director", "ias"];
    const RETRY: Retry = Retry::DEFAULT
        .polling(secs(1), mins(2))
        .backing_off(secs(2), mins(1))
        .failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.runtime_id.is_none() {
            take_over(cx).await?;
        }
        if cx.data.runtime_id.is_none() {
            return ProvisionInitialization.run(cx).await;
        }
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
                return for_operation(follower, tenant, &status, "the runtime is being made")
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
        match set_addresses(cx).await? {
            Some(failure) => finish(format!(
                "the runtime is there; IAS does not know where the dashboards are: {failure}"
            )),
            None => finish("the runtime is there"),
        }
    }
}

/// Tells IAS where people are sent back to. That it does not take it is no reason to give up the runtime: it comes back with why.
async fn set_addresses(cx: &mut Cx<'_, Provisioning>) -> Result<Option<Failure>, StepError> {
    let order = &cx.input.order;
    let dashboard = cx.data.dashboard_url.as_ref().unwrap_or(&order.dashboard_url);
    let (Some(ias), Ok(dashboard)) = (&cx.env.ias, Url::parse(dashboard)) else { return Ok(None) };
    let set = ias.set_type(ProviderKind::Grafana, &order.instance_id, &dashboard).await;
    let since = &mut cx.data.addresses_failing_since;
    match set.map_err(StepError::from) {
        Ok(()) => {
            *since = None;
            Ok(None)
        }
        Err(error) => {
            let failure = outlasted(error, since, cx.now, PATIENCE)?;
            tracing::warn!(operation.id = %cx.operation, %failure, "IAS does not know where the dashboards are");
            Ok(Some(failure))
        }
    }
}
