//! Marks the runtime as deleted, and forgets its kubeconfig.

use engine::{Cx, Step, StepResult, done};
use store::provisioner::RuntimeChange;

use crate::operations::OnRuntime;

pub(super) struct ForgetRuntime;

impl<O: OnRuntime> Step<O> for ForgetRuntime {
    const NAME: &'static str = "Forget_Runtime";

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        cx.change(&RuntimeChange { deleted: true, ..RuntimeChange::default() })?;
        done()
    }
}
