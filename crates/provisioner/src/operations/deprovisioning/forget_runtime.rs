//! Says that the runtime is gone, and forgets the way into it.

use engine::{Cx, Step, StepResult, done};
use serde_json::json;

use crate::operations::OnRuntime;

pub(super) struct ForgetRuntime;

impl<O: OnRuntime> Step<O> for ForgetRuntime {
    const NAME: &'static str = "Forget_Runtime";

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        cx.change("runtime", json!({"deleted": true}));
        done()
    }
}
