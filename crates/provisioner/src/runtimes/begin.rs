//! How an operation on a runtime that is there begins: accepted in one transaction, one at a time.

use engine::{
    Order, StorageError,
    storage::{Acceptance, Unfinished, Verdict},
};
use store::{Accepted, provisioner::Runtime};
use uuid::{Builder, Uuid};

use super::{Caller, Provisioner, access::Owned};
use crate::{
    Error,
    document::Document,
    operations::{Data, Input, OnRuntime, Target},
    status::{OperationState, OperationStatus, OperationType},
};

/// How often a use case begins again when somebody else has changed the runtime meanwhile.
pub(super) const TRIES: usize = 5;

/// What is to be done with a runtime.
pub(super) struct Beginning {
    pub(super) known_as: OperationType,
    pub(super) document: Document,
    /// Whether the document counts at once, and not only when the operation has got that far.
    pub(super) at_once: bool,
    pub(super) kyma: bool,
    pub(super) shoot: bool,
    pub(super) first_message: &'static str,
    /// The operation's id, so that a document can name it.
    pub(super) id: Uuid,
}

impl Provisioner {
    /// Accepts an operation. `None`: the runtime was changed meanwhile, begin again.
    pub(super) async fn begin<O: OnRuntime>(
        &self,
        owned: &Owned,
        beginning: Beginning,
    ) -> Result<Option<OperationStatus>, Error> {
        let row = &owned.row;
        let bytes = beginning.at_once.then(|| beginning.document.bytes());
        let input = Input {
            target: target(row),
            document: beginning.document,
            known_as: beginning.known_as,
            kyma: beginning.kyma,
            shoot: beginning.shoot,
            first_message: beginning.first_message.into(),
        };
        let started = started(beginning.id, row.id, &input);
        let order = order::<O>(beginning.id, input)?;
        let accepted =
            self.0.store.accept(row.id, row.revision, bytes.as_deref(), order, &one_at_a_time);
        match accepted.await? {
            Accepted::Yes(Acceptance::Started | Acceptance::Queued) => Ok(Some(started)),
            Accepted::Yes(Acceptance::Same(id)) => self.status_of(id).await.map(Some),
            Accepted::Yes(Acceptance::Refused(_)) => Err(busy(row.id)),
            Accepted::Changed => Ok(None),
            Accepted::Gone => Err(Error::bad(format!("Runtime {} is deprovisioned", row.id))),
        }
    }
}

/// Why nothing else begins.
pub(super) fn busy(runtime: Uuid) -> Error {
    Error::bad(format!(
        "cannot start new operation for {runtime} Runtime while previous one is in progress"
    ))
}

/// When a runtime was changed again and again while a request was looked at.
pub(super) fn contended(runtime: &str) -> Error {
    Error::internal(format!("Runtime {runtime} is being changed by others, try again"))
}

/// An order as the store takes it.
pub(super) fn order<O: OnRuntime>(
    id: Uuid,
    input: Input,
) -> Result<engine::storage::NewOperation, StorageError> {
    let (instance, lane) = (input.target.runtime.to_string(), input.target.tenant.clone());
    let data = Data::default();
    Order::<O> { id, instance, lane, input, data, digest: None }.encoded()
}

/// What is answered right after acceptance.
pub(super) fn started(id: Uuid, runtime: Uuid, input: &Input) -> OperationStatus {
    OperationStatus {
        id: id.to_string(),
        kind: input.known_as,
        state: OperationState::InProgress,
        message: input.first_message.clone(),
        runtime_id: runtime.to_string(),
        last_error: None,
        errors: Vec::new(),
    }
}

fn target(row: &Runtime) -> Target {
    Target {
        runtime: row.id,
        tenant: row.tenant.clone(),
        subaccount: row.subaccount.clone(),
        shoot: row.shoot.clone(),
    }
}

/// Only one operation of a runtime at a time; nothing waits behind it.
fn one_at_a_time(unfinished: &[Unfinished]) -> Verdict {
    unfinished.first().map_or(Verdict::Queue, |other| Verdict::Refuse(other.id))
}

impl Caller {
    /// The id of the operation that a request begins. With a key it is the same for every repetition, so
    /// that a repetition finds the operation and does not begin another one.
    pub(super) fn operation_id(&self, mutation: &str, runtime: &str) -> Uuid {
        let Some(key) = &self.idempotency_key else { return Uuid::now_v7() };
        let parts = [self.tenant.as_str(), mutation, runtime, key.as_str()];
        let mut context = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256);
        for part in parts {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part.as_bytes());
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&context.finish().as_ref()[..16]);
        Builder::from_custom_bytes(bytes).into_uuid()
    }
}
