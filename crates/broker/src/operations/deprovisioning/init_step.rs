//! Takes over what the last finished operation knew about the instance.
//!
//! What a reader would get wrong: the row is not enough. A create that failed or was stopped knows more than it could
//! tell the row, and what it has made must go too.

use base::Failure;
use engine::{Operation, OperationId, StepError, Storage, finish};

use super::Deprovisioning;
use crate::{
    Details,
    operations::{prelude::*, provisioning::Provisioning},
};

pub(super) struct InitStep;

impl Step<Deprovisioning> for InitStep {
    const NAME: &'static str = "Init_Step";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(60));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        if take_over(cx).await? {
            return done();
        }
        finish("the instance is removed already")
    }
}

/// Takes over what is known, if the instance is there.
pub(super) async fn take_over(cx: &mut Cx<'_, Deprovisioning>) -> Result<bool, StepError> {
    let store = &cx.env.store;
    let internal = |error: store::Error| StepError::internal(&error);
    let Some(row) = store.find(cx.instance).await.map_err(internal)? else { return Ok(false) };
    let mut details = match row.details.as_slice() {
        [] => Details::default(),
        bytes => read(bytes)?,
    };
    let create = store.last_operation(cx.instance, Some(&[Provisioning::KIND]));
    if let Some(create) = create.await.map_err(internal)?
        && let Some(known) = unsaid(cx, create).await?
    {
        details = known;
    }
    details.runtime_id = details.runtime_id.or(row.runtime_id);
    cx.data.details = details;
    cx.data.begin(cx.plan);
    Ok(true)
}

/// What a create knew that did not succeed.
async fn unsaid(
    cx: &Cx<'_, Deprovisioning>,
    create: OperationId,
) -> Result<Option<Details>, StepError> {
    let found = cx.env.store.engine().read(create).await;
    let found = found.map_err(|error| StepError::internal(&error))?;
    match found {
        Some(found) if found.state != engine::State::Succeeded => read(&found.data).map(Some),
        _ => Ok(None),
    }
}

fn read(bytes: &[u8]) -> Result<Details, StepError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = format!("what is known about the instance cannot be read: {error}");
        StepError::transient(Failure::new("store", "unreadable", text))
    })
}
