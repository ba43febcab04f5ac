//! Tries again what a removal could not complete.

use engine::{
    OperationId, State, Storage,
    storage::{Acceptance, Unfinished, Verdict},
};
use store::{BrokerStore, EngineStore};
use uuid::Uuid;

use super::leftovers::Error;
use crate::operations::deprovisioning;

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetriggerResult {
    /// This operation continues the last removal; only what was not completed runs.
    Begun(OperationId),
    /// This removal is under way already.
    Running(OperationId),
    /// This operation has to end first.
    Blocked(OperationId),
    /// The instance was never removed, or nothing of it is left.
    Nothing,
}

/// Continues the last removal of an instance, if it left something or failed.
pub async fn retrigger(
    operations: &EngineStore,
    store: &BrokerStore,
    instance: &str,
) -> Result<RetriggerResult, Error> {
    let last = store.last_operation(instance, Some(&[deprovisioning::KIND])).await?;
    let Some(last) = last else { return Ok(RetriggerResult::Nothing) };
    let Some(found) = operations.read(last).await? else { return Ok(RetriggerResult::Nothing) };
    if !found.state.is_final() {
        return Ok(RetriggerResult::Running(last));
    }
    if found.state == State::Succeeded && deprovisioning::left_nothing(&found) {
        return Ok(RetriggerResult::Nothing);
    }
    let new = Uuid::now_v7();
    Ok(match operations.continue_from(last, new, &pairs).await? {
        Acceptance::Started | Acceptance::Queued => RetriggerResult::Begun(new),
        Acceptance::Same(running) => RetriggerResult::Running(running),
        Acceptance::Refused(other) => RetriggerResult::Blocked(other),
    })
}

/// Whether the newest operation of an instance is a removal that failed or left something.
///
/// A suspension is one too: its instance stays, and is not marked as removed.
pub(crate) async fn ends_in_unfinished_removal(
    operations: &EngineStore,
    store: &BrokerStore,
    instance: &str,
) -> Result<bool, Error> {
    let Some(last) = store.last_operation(instance, None).await? else { return Ok(false) };
    let found = operations.of_ids(&[last]).await.map_err(Error::Removals)?;
    let mut found = found.into_iter().filter(|it| it.kind == deprovisioning::KIND);
    let Some(mut removal) = found.next() else { return Ok(false) };
    if removal.state == State::Succeeded {
        // Content that cannot be read is logged there: it must not hide the other removals.
        let contents = operations.readable_contents(&[last]).await.map_err(Error::Removals)?;
        removal.data = contents.into_iter().next().map(|it| it.data).unwrap_or_default();
    }
    Ok(match removal.state {
        State::Failed => true,
        State::Succeeded => !deprovisioning::left_nothing(&removal),
        State::Pending | State::InProgress | State::Canceled => false,
    })
}

/// One removal at a time; behind anything else nobody waits.
fn pairs(unfinished: &[Unfinished]) -> Verdict {
    let removal = unfinished.iter().find(|other| other.kind == deprovisioning::KIND);
    match (removal, unfinished.first()) {
        (Some(removal), _) => Verdict::Same(removal.id),
        (None, Some(other)) => Verdict::Refuse(other.id),
        (None, None) => Verdict::Queue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unfinished(kind: &str) -> Unfinished {
        Unfinished {
            id: OperationId::from_u128(7),
            kind: kind.into(),
            state: State::InProgress,
            admitted: true,
            digest: None,
            canceling: false,
        }
    }

    #[test]
    fn a_removal_under_way_answers_and_anything_else_is_in_the_way() {
        let id = OperationId::from_u128(7);

        assert_eq!(pairs(&[]), Verdict::Queue);
        assert_eq!(pairs(&[unfinished("deprovision")]), Verdict::Same(id));
        assert_eq!(pairs(&[unfinished("update")]), Verdict::Refuse(id));
    }
}
