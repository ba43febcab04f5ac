//! Takes over what is known about the instance.

use super::Deprovisioning;
use crate::operations::prelude::*;

pub(super) struct InitStep {
    /// The steps that will have something to remove.
    pub(super) steps: Vec<&'static str>,
}

impl Step<Deprovisioning> for InitStep {
    const NAME: &'static str = "Init_Step";

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let found = cx.env.store.find(cx.instance).await;
        let row = found.map_err(|error| StepError::internal(&error))?;
        let details = row.map(|row| serde_json::from_slice(&row.details)).transpose();
        cx.data.details = details.map_err(|error| StepError::internal(&error))?.unwrap_or_default();
        cx.data.left = self.steps.iter().map(|step| (*step).to_owned()).collect();
        done()
    }
}
