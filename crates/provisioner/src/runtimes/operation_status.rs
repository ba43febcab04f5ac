//! How an operation is doing, in the words of the API.

use engine::{State, Storage, storage::Snapshot};
use uuid::Uuid;

use super::{Caller, Provisioner, access::uuid, problems::Problems};
use crate::{
    Error,
    operations::{Data, Input},
    status::{OperationState, OperationStatus},
};

impl Provisioner {
    /// How an operation is doing.
    pub async fn operation_status(
        &self,
        caller: &Caller,
        operation: &str,
    ) -> Result<OperationStatus, Error> {
        let doing = "failed to get Runtime Operation Status";
        let id = uuid(operation, "Operation").map_err(|error| error.while_doing(doing))?;
        let Some(snapshot) = self.snapshot(id).await? else {
            return Err(unknown(id).while_doing(doing));
        };
        let runtime = uuid(&snapshot.instance, "runtime")?;
        let row = self.0.store.find(runtime).await?;
        let Some(row) = row else { return Err(unknown(id).while_doing(doing)) };
        if !caller.may_know(&row)? {
            return Err(unknown(id).while_doing(doing));
        }
        // What a retry does counts for the callers that follow the operation that it continues.
        let newest = self.continued(snapshot).await?;
        Ok(OperationStatus { id: id.to_string(), ..self.status(&newest).await? })
    }

    /// The operation that continues this one, if it has failed and an operator has retried it.
    async fn continued(&self, snapshot: Snapshot) -> Result<Snapshot, Error> {
        if !matches!(snapshot.state, State::Failed | State::Canceled) {
            return Ok(snapshot);
        }
        let storage = self.0.engine.storage();
        let line = storage.of_instances(&[&snapshot.instance]).await?;
        let newest = line.into_iter().rfind(|other| other.root == snapshot.root);
        match newest.filter(|newest| newest.id != snapshot.id) {
            Some(newest) => Ok(storage.read(newest.id).await?.unwrap_or(snapshot)),
            None => Ok(snapshot),
        }
    }

    pub(super) async fn snapshot(&self, id: Uuid) -> Result<Option<Snapshot>, Error> {
        Ok(self.0.engine.storage().read(id).await?)
    }

    pub(super) async fn status_of(&self, id: Uuid) -> Result<OperationStatus, Error> {
        let snapshot = self.snapshot(id).await?;
        self.status(&snapshot.ok_or_else(|| unknown(id))?).await
    }

    pub(super) async fn status(&self, snapshot: &Snapshot) -> Result<OperationStatus, Error> {
        let input = read_input(snapshot)?;
        let notes = read_data(snapshot)?.notes;
        let journal = self.0.engine.storage().journal(snapshot.id).await?;
        let problems = Problems { snapshot, journal: &journal };
        let last_error = problems.last();
        let errors = problems.all(last_error.as_ref());
        let (state, message) = match snapshot.state {
            State::Succeeded => {
                (OperationState::Succeeded, with_notes("Operation succeeded", &notes))
            }
            State::Failed | State::Canceled => {
                (OperationState::Failed, problems.end(last_error.as_ref()))
            }
            State::Pending | State::InProgress => {
                let message = match &snapshot.stage {
                    Some(stage) if !snapshot.closed.is_empty() => {
                        with_notes(&format!("Operation in progress. Stage {stage}"), &notes)
                    }
                    _ => input.first_message,
                };
                (OperationState::InProgress, with_progress(message, snapshot))
            }
        };
        Ok(OperationStatus {
            id: snapshot.id.to_string(),
            kind: input.known_as,
            state,
            message,
            runtime_id: snapshot.instance.clone(),
            last_error,
            errors,
        })
    }
}

fn unknown(id: Uuid) -> Error {
    Error::not_found(format!("Operation not found for id: {id}"))
}

/// A message, and how far another system is with what is waited for: it stands behind the colon of the reason.
fn with_progress(message: String, snapshot: &Snapshot) -> String {
    let reason = snapshot.waiting_since.and(snapshot.note.as_deref());
    match reason.and_then(|reason| reason.split_once(": ")) {
        Some((_, progress)) => format!("{message}. {progress}"),
        None => message,
    }
}

/// A message, and what callers should know besides.
pub(super) fn with_notes(message: &str, notes: &[String]) -> String {
    let mut texts = vec![message];
    texts.extend(notes.iter().map(String::as_str));
    texts.join(". ")
}

/// The data of an operation.
fn read_data(snapshot: &Snapshot) -> Result<Data, Error> {
    serde_json::from_slice(&snapshot.data).map_err(|error| {
        Error::internal(format!("operation {} cannot be read: {error}", snapshot.id))
    })
}

/// The input of an operation.
pub(super) fn read_input(snapshot: &Snapshot) -> Result<Input, Error> {
    serde_json::from_slice(&snapshot.input).map_err(|error| {
        Error::internal(format!("operation {} cannot be read: {error}", snapshot.id))
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::runtimes::problems::tests::snapshot;

    #[test]
    fn a_message_tells_how_far_it_is_while_it_waits_for_something_that_says_so() {
        let told = |waits: bool, note: Option<&str>| {
            let operation = Snapshot {
                waiting_since: waits.then_some(Timestamp::UNIX_EPOCH),
                note: note.map(str::to_owned),
                ..snapshot(State::InProgress, None)
            };
            with_progress("Stage X".into(), &operation)
        };

        let progress = Some("the cluster is being made: 62 %: waiting until it is there");
        assert_eq!(told(true, progress), "Stage X. 62 %: waiting until it is there");
        assert_eq!(told(false, progress), "Stage X");
        assert_eq!(told(true, Some("Gardener has not seen the change yet")), "Stage X");
        assert_eq!(told(true, None), "Stage X");
    }
}
