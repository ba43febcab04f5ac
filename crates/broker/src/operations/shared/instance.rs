//! An instance that is to be changed or upgraded, as it is stored when the operation begins: others may have ended since it was accepted.

use base::Failure;
use engine::{Operation, State, StepError, Storage};
use store::engine::refusal::{COMPONENT, INSTANCE_GONE, NOT_PROVISIONED, SUSPENDED};

use crate::{
    Details, Order,
    operations::{env::Env, provisioning::Provisioning},
};

/// The instance's order and what is known about it; a failure of the operation when it has no runtime. `done`: what is done to it, as
/// people say it.
pub(in crate::operations) async fn current(
    env: &Env,
    instance: &str,
    done: &str,
) -> Result<(Order, Details), StepError> {
    let row = env.store.find(instance).await.map_err(|error| StepError::internal(&error))?;
    let Some(row) = row.filter(|row| row.deleted_at.is_none()) else {
        return Err(refused(INSTANCE_GONE, "the instance was removed"));
    };
    if !was_made(env, instance).await? {
        let text = format!("the instance could not be provisioned, so it was not {done}");
        return Err(refused(NOT_PROVISIONED, &text));
    }
    let order: Order = read(&row.order)?;
    let mut details: Details = match row.details.as_slice() {
        [] => Details::default(),
        bytes => read(bytes)?,
    };
    details.runtime_id = row.runtime_id.or(details.runtime_id);
    if details.runtime_id.is_none() {
        let text = format!("the instance has no runtime: it is suspended, so it was not {done}");
        return Err(refused(SUSPENDED, &text));
    }
    // That of the operation before.
    details.target_operation_id = None;
    Ok((order, details))
}

/// Whether the newest order for the runtime has ended well. One that was stopped before it began, as a return from suspension can be, does
/// not count.
async fn was_made(env: &Env, instance: &str) -> Result<bool, StepError> {
    let made_by = env.store.last_effective_operation(instance, &[Provisioning::KIND]).await;
    let Some(made_by) = made_by.map_err(|error| StepError::internal(&error))? else {
        return Ok(true);
    };
    let found = env.store.engine().read(made_by).await;
    let found = found.map_err(|error| StepError::internal(&error))?;
    Ok(found.is_none_or(|found| found.state == State::Succeeded))
}

/// A failure that no further run can help with.
pub(in crate::operations) fn refused(reason: &str, text: &str) -> StepError {
    StepError::fatal(Failure::new(COMPONENT, reason, text))
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, StepError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = format!("what is stored about the instance cannot be read: {error}");
        StepError::transient(Failure::new("store", "unreadable", text))
    })
}
