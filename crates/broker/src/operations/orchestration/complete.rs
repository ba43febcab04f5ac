//! Ends an orchestration: canceled, failed when a runtime failed, succeeded otherwise.

use domain::orchestration::State;

use super::{Orchestrating, orchestration, stored};
use crate::operations::prelude::*;

pub(super) struct Complete;

impl Step<Orchestrating> for Complete {
    const NAME: &'static str = "Complete";

    async fn run(&self, cx: &mut Cx<'_, Orchestrating>) -> StepResult {
        let row = orchestration(cx).await?;
        let store = cx.env.store();
        let counts = store.orchestration_counts(row.id).await.map_err(|error| stored(&error))?;
        let state = match counts.in_state("failed") {
            _ if cx.data.canceled || row.state == State::Canceling.as_str() => State::Canceled,
            0 => State::Succeeded,
            _ => State::Failed,
        };
        // When something is tried again meanwhile, the driver that does it ends the orchestration.
        let finished = store.finish_orchestration(row.id, cx.operation, state.as_str());
        finished.await.map_err(|error| stored(&error))?;
        cx.note(state.as_str());
        done()
    }
}
