//! Marks the runtime as provisioned: from now on it can be changed.

use engine::{Cx, Step, StepResult, done};
use store::provisioner::RuntimeChange;

use crate::operations::{OnRuntime, stored};

pub(super) struct FinishProvisioning;

impl<O: OnRuntime> Step<O> for FinishProvisioning {
    const NAME: &'static str = "Finish_Provisioning";

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let mut document = cx.input.document.clone();
        if document.configuration.cluster.seed.is_none() {
            document.configuration.cluster.seed.clone_from(&cx.data.seed);
        }
        let document = Some(stored(&document)?);
        cx.change(&RuntimeChange { provisioned: true, document, ..RuntimeChange::default() })?;
        done()
    }
}
