//! The details of an instance when an operation begins.
//!
//! What a reader would get wrong: the row is not enough. An operation that failed or was stopped knows more than it could
//! tell the row, and what it has made must not be forgotten. One that was stopped before it began knows nothing.

use std::collections::BTreeSet;

use base::Failure;
use engine::{Operation, OperationId, State, StepError, storage::Snapshot};
use serde::de::DeserializeOwned;
use store::BrokerStore;

use crate::{
    Details,
    operations::{
        deprovisioning::{Data, Deprovisioning},
        provisioning::Provisioning,
    },
};

/// The details of an instance.
pub(in crate::operations) struct InstanceKnowledge {
    pub(in crate::operations) details: Details,
    /// The leftovers of a suspension, when the previous operation was one.
    pub(in crate::operations) suspension: Option<BTreeSet<String>>,
}

/// The details of an instance when this operation begins; none when there is no such instance.
pub(in crate::operations) async fn read(
    rows: &BrokerStore,
    instance: &str,
    operation: OperationId,
) -> Result<Option<InstanceKnowledge>, StepError> {
    let internal = |error: store::Error| StepError::internal(&error);
    let Some(row) = rows.find(instance).await.map_err(internal)? else { return Ok(None) };
    let all = rows.engine().of_instances(&[instance]).await.map_err(internal)?;
    let before: Vec<&Snapshot> = all.iter().take_while(|other| other.id != operation).collect();
    for other in before.into_iter().rev() {
        let Some(mut known) = learnt(rows, other).await? else { continue };
        if other.state == State::Succeeded {
            known.details = of_row(&row.details)?;
        }
        known.details.runtime_id = known.details.runtime_id.or(row.runtime_id);
        return Ok(Some(known));
    }
    let mut details = of_row(&row.details)?;
    details.runtime_id = details.runtime_id.or(row.runtime_id);
    Ok(Some(InstanceKnowledge { details, suspension: None }))
}

/// The details from an order or a removal, if it came so far.
async fn learnt(
    rows: &BrokerStore,
    other: &Snapshot,
) -> Result<Option<InstanceKnowledge>, StepError> {
    if ![Provisioning::KIND, Deprovisioning::KIND].contains(&other.kind.as_str()) {
        return Ok(None);
    }
    let contents = rows.engine().contents(&[other.id]).await;
    let contents = contents.map_err(|error| StepError::internal(&error))?;
    let Some(content) = contents.first() else { return Ok(None) };
    let known = if other.kind == Provisioning::KIND {
        InstanceKnowledge { details: parse(&content.data)?, suspension: None }
    } else {
        let Data { details, left, .. } = parse(&content.data)?;
        InstanceKnowledge { details, suspension: Some(left) }
    };
    let left = known.suspension.as_ref().is_some_and(|left| !left.is_empty());
    let learnt = left || known.details != Details::default();
    Ok(Some(known).filter(|_| other.state == State::Succeeded || learnt))
}

fn of_row(details: &[u8]) -> Result<Details, StepError> {
    if details.is_empty() { Ok(Details::default()) } else { parse(details) }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StepError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = format!("what is known about the instance cannot be read: {error}");
        StepError::transient(Failure::new("store", "unreadable", text))
    })
}
