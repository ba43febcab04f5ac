//! Gives the Shoot the wanted settings, and stores them once Gardener has accepted them.

use engine::{Cx, Retry, Step, StepError, StepResult, done};
use serde_json::json;

use super::secs;
use crate::{
    operations::{OnRuntime, calling, needed_shoot},
    shoots,
};

pub(in crate::operations) struct UpdateShoot;

impl<O: OnRuntime> Step<O> for UpdateShoot {
    const NAME: &'static str = "Update_Shoot";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let live = needed_shoot(cx).await?;
        let document = &cx.input.document;
        let changed = match shoots::change(&live, &document.configuration) {
            Some(mut patch) => {
                // Lists are written whole: not over somebody else's change.
                patch["metadata"]["resourceVersion"] = json!(live.metadata.resource_version);
                let name = &cx.input.target.shoot;
                cx.env.gardener.merge(name, &patch).await.map_err(calling)?
            }
            None => live,
        };
        cx.data.generation = changed.metadata.generation;
        let stored = serde_json::to_value(document).map_err(|error| StepError::internal(&error))?;
        cx.change("runtime", json!({"document": stored}));
        done()
    }
}
