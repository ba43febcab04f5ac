//! Forgets the instance, or marks it as removed while something of it is left.

use engine::{StepError, wait};
use serde_json::json;

use super::{Data, Deprovisioning};
use crate::{Details, operations::prelude::*};

pub(super) struct RemoveInstance;

impl Step<Deprovisioning> for RemoveInstance {
    const NAME: &'static str = "Remove_Instance";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(10));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        // What was inside of a cluster that is gone is gone with it.
        if !cx.data.cluster_may_exist() {
            cx.data.gone(&[<super::btpoperator_cleanup::BtpOperatorCleanup as Step<
                Deprovisioning,
            >>::NAME])?;
        }
        let clean = cx.data.left.is_empty();
        let change = match (clean, cx.input.temporary) {
            (true, false) => json!({ "removed": true }),
            (true, true) => json!({ "runtime_id": null, "details": asleep(cx.data)? }),
            (false, false) => json!({ "deleted": true, "details": value(&cx.data.details)? }),
            (false, true) => json!({ "details": value(&cx.data.details)? }),
        };
        cx.change("instance", change);
        if clean {
            return done();
        }
        let left: Vec<&str> = cx.data.left.iter().map(String::as_str).collect();
        wait(format!("something of the instance is left: {}", left.join(", ")))
    }
}

/// What is still known of an instance that sleeps: what its next cluster shall have again.
fn asleep(data: &mut Data) -> Result<serde_json::Value, StepError> {
    let Details { sm_cluster_id, kyma_namespace, kyma_name, kyma_template, .. } = &data.details;
    let kept = Details {
        sm_cluster_id: *sm_cluster_id,
        kyma_namespace: kyma_namespace.clone(),
        kyma_name: kyma_name.clone(),
        kyma_template: kyma_template.clone(),
        ..Details::default()
    };
    data.details = kept;
    value(&data.details)
}

fn value(details: &Details) -> Result<serde_json::Value, StepError> {
    serde_json::to_value(details).map_err(|error| StepError::internal(&error))
}
