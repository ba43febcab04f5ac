//! How an operation is doing, in the words of the API.

use engine::{State, Storage, storage::Snapshot};
use uuid::Uuid;

use super::{Caller, Provisioner, access::uuid};
use crate::{
    Error,
    error::{COMPONENT, INTERNAL},
    operations::Input,
    status::{LastError, OperationState, OperationStatus},
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
        let Some(row) = self.0.store.find(runtime).await? else {
            return Err(unknown(id).while_doing(doing));
        };
        caller.check(&row)?;
        status(&snapshot)
    }

    pub(super) async fn snapshot(&self, id: Uuid) -> Result<Option<Snapshot>, Error> {
        Ok(self.0.engine.storage().read(id).await?)
    }

    pub(super) async fn status_of(&self, id: Uuid) -> Result<OperationStatus, Error> {
        let snapshot = self.snapshot(id).await?;
        status(&snapshot.ok_or_else(|| unknown(id))?)
    }
}

fn unknown(id: Uuid) -> Error {
    Error::not_found(format!("Operation not found for id: {id}"))
}

fn status(snapshot: &Snapshot) -> Result<OperationStatus, Error> {
    let input: Input = serde_json::from_slice(&snapshot.input).map_err(|error| {
        Error::internal(format!("operation {} cannot be read: {error}", snapshot.id))
    })?;
    let last_error = snapshot.failure.as_ref().map(last_error);
    let said = last_error.as_ref().map(|last| last.message.clone());
    let (state, message) = match snapshot.state {
        State::Succeeded => (OperationState::Succeeded, "Operation succeeded".to_owned()),
        State::Failed | State::Canceled => {
            let text = said.clone().or_else(|| snapshot.note.clone());
            (OperationState::Failed, text.unwrap_or_else(|| "the operation was ended".into()))
        }
        State::Pending | State::InProgress => {
            let message = match &snapshot.stage {
                Some(stage) if !snapshot.closed.is_empty() => {
                    format!("Operation in progress. Stage {stage}")
                }
                _ => input.first_message,
            };
            (OperationState::InProgress, message)
        }
    };
    Ok(OperationStatus {
        id: snapshot.id.to_string(),
        kind: input.known_as,
        state,
        message,
        runtime_id: snapshot.instance.clone(),
        last_error,
        errors: said.into_iter().collect(),
    })
}

/// The engine's own failures are the provisioner's to its clients.
fn last_error(failure: &base::Failure) -> LastError {
    let (reason, component) = match (failure.component.as_str(), failure.reason.as_str()) {
        ("engine", "time_limit" | "waiting_limit") => ("err_provisioner_timeout", COMPONENT),
        ("engine", _) => (INTERNAL, COMPONENT),
        (component, reason) => (reason, component),
    };
    LastError {
        message: failure.message.clone(),
        reason: reason.into(),
        component: component.into(),
    }
}
