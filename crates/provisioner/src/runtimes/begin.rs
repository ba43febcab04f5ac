//! How an operation on a runtime that is there begins: accepted in one transaction, one at a time.

use engine::{
    Operation, Order, StorageError,
    storage::{Acceptance, Pairs, Unfinished, Verdict},
};
use serde::Serialize;
use store::RowAcceptance;
use uuid::{Builder, Uuid};

use super::{Caller, Provisioner, access::OwnedRuntime, operation_status::read_input};
use crate::{
    Error,
    document::Document,
    operations::{
        Data, Input, OnRuntime, Target, Versions,
        deprovisioning::{Deprovisioning, DeprovisioningNoInstall},
    },
    status::{OperationState, OperationStatus, OperationType},
};

/// How often a use case begins again after a concurrent change of the runtime.
pub(super) const TRIES: usize = 5;

/// A new operation of a runtime.
pub(super) struct OperationStart {
    pub(super) known_as: OperationType,
    pub(super) document: Document,
    /// Whether the document counts at once, and not only when the operation has got that far.
    pub(super) at_once: bool,
    pub(super) kyma: bool,
    pub(super) shoot: bool,
    pub(super) first_message: String,
    /// Versions that the caller named.
    pub(super) requested: Versions,
    /// By which the request is recognised; its id is the operation's, so that a document can name it.
    pub(super) mark: Mark,
    /// The treatment of unfinished operations.
    pub(super) others: UnfinishedPolicy,
}

/// How unfinished operations are treated when another one is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnfinishedPolicy {
    /// They are in the way.
    Stay,
    /// They are called off.
    End,
}

/// By which a request is recognised when it is repeated.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    /// The id of the operation that it begins.
    pub(super) id: Uuid,
    /// A digest of the request; only when it came with a key.
    pub(super) digest: Option<Uuid>,
}

impl Provisioner {
    /// Accepts an operation. `None`: the runtime was changed meanwhile, begin again.
    pub(super) async fn begin<O: OnRuntime>(
        &self,
        owned: &OwnedRuntime,
        beginning: OperationStart,
    ) -> Result<Option<OperationStatus>, Error> {
        let row = &owned.row;
        let bytes = beginning.at_once.then(|| beginning.document.bytes());
        let input = Input {
            target: target(owned),
            document: beginning.document,
            known_as: beginning.known_as,
            kyma: beginning.kyma,
            shoot: beginning.shoot,
            first_message: beginning.first_message,
            requested: beginning.requested,
            digest: beginning.mark.digest,
        };
        let mark = beginning.mark;
        let started = started(mark.id, row.id, &input);
        let order = order::<O>(mark.id, input)?;
        let alone = |unfinished: &[Unfinished]| one_at_a_time(unfinished);
        let first = |unfinished: &[Unfinished]| before_all(mark.id, unfinished);
        let pairs: &Pairs<'_> =
            if beginning.others == UnfinishedPolicy::End { &first } else { &alone };
        let (store, bytes) = (&self.0.store, bytes.as_deref());
        let accepted = match owned.moves() {
            Some(moves) => {
                store.accept_moving(row.id, row.revision, bytes, moves, order, pairs).await?
            }
            None => store.accept(row.id, row.revision, bytes, order, pairs).await?,
        };
        match accepted {
            RowAcceptance::Yes(Acceptance::Started | Acceptance::Queued) => {
                owned.tell_of_move(&started.id);
                Ok(Some(started))
            }
            RowAcceptance::Yes(Acceptance::Same(id)) if id == mark.id => self.answered(&mark).await,
            RowAcceptance::Yes(Acceptance::Same(id)) => self.status_of(id).await.map(Some),
            RowAcceptance::Yes(Acceptance::Refused(_)) => Err(busy(row.id)),
            RowAcceptance::Changed => Ok(None),
            RowAcceptance::Gone => Err(Error::bad(format!("Runtime {} is deprovisioned", row.id))),
        }
    }

    /// The operation that an earlier request with the same key began. A key that came with another request is
    /// refused: what that one asked for is not what this one asks for.
    pub(super) async fn answered(&self, mark: &Mark) -> Result<Option<OperationStatus>, Error> {
        if mark.digest.is_none() {
            return Ok(None);
        }
        let Some(snapshot) = self.snapshot(mark.id).await? else { return Ok(None) };
        let input = read_input(&snapshot)?;
        if input.digest.is_some() && input.digest != mark.digest {
            return Err(used_key());
        }
        self.status(&snapshot).await.map(Some)
    }
}

/// Why a key cannot be used again.
pub(super) fn used_key() -> Error {
    Error::bad("the idempotency key was used for another request before")
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

/// The status right after acceptance.
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

fn target(owned: &OwnedRuntime) -> Target {
    let row = &owned.row;
    let left = owned.moves_to.is_some().then(|| row.tenant.clone());
    Target {
        runtime: row.id,
        tenant: owned.moves_to.clone().unwrap_or_else(|| row.tenant.clone()),
        registered_tenant: row.registered_tenant.clone().or(left),
        subaccount: row.subaccount.clone(),
        shoot: row.shoot.clone(),
    }
}

/// Only one operation of a runtime at a time; nothing waits behind it.
fn one_at_a_time(unfinished: &[Unfinished]) -> Verdict {
    unfinished.first().map_or(Verdict::Queue, |other| Verdict::Refuse(other.id))
}

/// A removal that goes before everything but another removal.
fn before_all(id: Uuid, unfinished: &[Unfinished]) -> Verdict {
    let removals = [Deprovisioning::KIND, DeprovisioningNoInstall::KIND];
    let is_removal = |other: &&Unfinished| removals.contains(&other.kind.as_str());
    // One that was called off ends without having removed everything.
    match unfinished.iter().find(|other| is_removal(other) && !other.canceling) {
        Some(removal) => Verdict::Same(removal.id),
        None if unfinished.is_empty() => Verdict::Queue,
        None => {
            let others = unfinished.iter().filter(|other| !other.canceling).map(|other| other.id);
            Verdict::Supersede(others.collect(), format!("called off by deprovisioning {id}"))
        }
    }
}

impl Caller {
    /// By which a request is recognised. With a key, the id of the operation is the same for every repetition, so
    /// that a repetition finds the operation and does not begin another one. A key counts for one mutation of one
    /// runtime.
    pub(super) fn mark(
        &self,
        mutation: &str,
        runtime: Uuid,
        request: &impl Serialize,
    ) -> Result<Mark, Error> {
        let Some(key) = &self.idempotency_key else {
            return Ok(Mark { id: Uuid::now_v7(), digest: None });
        };
        let request = serde_json::to_vec(request)
            .map_err(|error| Error::bad(format!("the request cannot be kept: {error}")))?;
        let parts = [self.tenant.as_str(), mutation, &runtime.to_string(), key.as_str()];
        let id = digest(parts.iter().map(|part| part.as_bytes()));
        let digest = digest([key.as_bytes(), &request].into_iter());
        Ok(Mark { id, digest: Some(digest) })
    }
}

/// A digest of texts, in the form of an id.
fn digest<'a>(parts: impl Iterator<Item = &'a [u8]>) -> Uuid {
    let mut context = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&context.finish().as_ref()[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}
