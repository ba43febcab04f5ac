//! Says that the runtime is there: from now on it can be changed.

use engine::{Cx, Step, StepError, StepResult, done};
use serde_json::json;

use crate::operations::OnRuntime;

pub(super) struct FinishProvisioning;

impl<O: OnRuntime> Step<O> for FinishProvisioning {
    const NAME: &'static str = "Finish_Provisioning";

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let mut document = cx.input.document.clone();
        if document.configuration.cluster.seed.is_none() {
            document.configuration.cluster.seed.clone_from(&cx.data.seed);
        }
        let document =
            serde_json::to_value(document).map_err(|error| StepError::internal(&error))?;
        cx.change("runtime", json!({"provisioned": true, "document": document}));
        done()
    }
}
