//! What becomes of a request while other operations of its instance are unfinished.

use super::OperationId;
use crate::position::State;

/// Decides, from the unfinished operations of one instance, what happens to a new one. Pure.
pub type Pairs<'a> = dyn Fn(&[Unfinished]) -> Verdict + Send + Sync + 'a;

/// An operation to be accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct NewOperation {
    /// Its id.
    pub id: OperationId,
    /// The instance.
    pub instance: String,
    /// Which plan it follows.
    pub kind: String,
    /// The version of its data.
    pub data_version: i32,
    /// The tenant, for fair shares.
    pub lane: String,
    /// The request.
    pub input: Vec<u8>,
    /// The details that are known already.
    pub data: Vec<u8>,
    /// A keyed digest of the request, to recognise its repetition.
    pub digest: Option<Vec<u8>>,
}

/// An unfinished operation of the instance a new one is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Its id.
    pub id: OperationId,
    /// Which plan it follows.
    pub kind: String,
    /// Its state.
    pub state: State,
    /// Whether it is the one that runs; the others wait behind it.
    pub admitted: bool,
    /// The digest of its request.
    pub digest: Option<Vec<u8>>,
    /// Whether it was requested to end.
    pub canceling: bool,
}

/// The verdict on a request that arrives while another operation is unfinished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is the same request: answer with that operation.
    Same(OperationId),
    /// Store it; it starts when those before it have ended.
    Queue,
    /// Refuse it because of that operation.
    Refuse(OperationId),
    /// Stop these at their next step boundary, and queue.
    Supersede(Vec<OperationId>, String),
}

/// The result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// Stored, and due now.
    Started,
    /// Stored behind the running one.
    Queued,
    /// Nothing stored: this operation answers it.
    Same(OperationId),
    /// Nothing stored: this operation is in the way.
    Refused(OperationId),
}
