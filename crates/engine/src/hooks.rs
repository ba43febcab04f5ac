//! Points at which tests may crash a replica or bend a result. Production has none.

use std::{future::Future, pin::Pin};

use crate::{decide::RunEnd, storage::OperationId};

/// A point in the life of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// The operation was handed to this replica.
    AfterClaim,
    /// The step is about to run.
    BeforeRun,
    /// An outside call is about to leave.
    BeforeCall,
    /// The answer of an outside call is here.
    AfterCall,
    /// The step has ended.
    AfterRun,
    /// The result is about to be committed.
    BeforeCommit,
    /// The result is stored, the process has not heard of it.
    Unanswered,
    /// The result is stored and known.
    AfterCommit,
}

impl Point {
    /// All points, in the order in which a run meets them.
    pub const ALL: [Self; 8] = [
        Self::AfterClaim,
        Self::BeforeRun,
        Self::BeforeCall,
        Self::AfterCall,
        Self::AfterRun,
        Self::BeforeCommit,
        Self::Unanswered,
        Self::AfterCommit,
    ];
}

/// The effect of a test hook at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Go,
    /// The process dies here.
    Crash,
    /// At [`Point::AfterCall`]: the answer is lost.
    LoseAnswer,
}

/// Watches runs, in tests.
pub trait Hooks: Send + Sync + 'static {
    /// Called at every point.
    fn at<'a>(
        &'a self,
        point: Point,
        operation: OperationId,
        step: &'a str,
    ) -> Pin<Box<dyn Future<Output = Flow> + Send + 'a>>;

    /// May bend the end of a run.
    fn bend(&self, _step: &str, end: RunEnd) -> RunEnd {
        end
    }
}
