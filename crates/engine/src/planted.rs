//! Known bugs that tests plant to prove that the checks can fail.
//!
//! A value, never a build feature: production starts with [`PlantedBug::Nothing`].

use std::str::FromStr;

use crate::position::UnknownWord;

/// A bug to plant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum PlantedBug {
    /// No bug.
    #[default]
    Nothing,
    /// A commit does not look at owner, epoch, serial or lease.
    NoFence,
    /// A stage is marked closed before its last step.
    StageClosedEarly,
    /// Several operations of an instance may be admitted at once.
    ManyRunning,
    /// The lease is given up before the last results are committed.
    LeaseReleasedEarly,
    /// Leases are judged by the replica's own clock.
    LocalClock,
    /// A commit without an answer counts as done.
    UnknownIsDone,
    /// A commit without an answer counts as failed, and the run is repeated.
    UnknownIsFailed,
    /// Each run has its own idempotency keys.
    KeyPerRun,
    /// Limits count from the moment the process saw the operation first.
    LimitsInMemory,
    /// Operations that wait behind nothing are not admitted at recovery.
    PendingForgotten,
    /// Only notifications wake; there is no scan.
    NoScan,
    /// A failed step is tried again at once.
    NoBackOff,
    /// A final state may be overwritten.
    FinalOverwritten,
    /// A lane may take everything.
    Unfair,
    /// A panic takes the worker with it.
    PanicEscapes,
    /// The journal leaves takeovers out.
    TakeoverUnrecorded,
    /// Kinds and versions are not looked at when claiming.
    ClaimsAnything,
    /// Stray operations, held but not in hand, are never released.
    StraysKept,
    /// A transaction that was begun and given up stays open on its pooled connection.
    TransactionLeftOpen,
    /// No replica looks for abandoned operations: the step of one goes on.
    AbandonedGoOn,
    /// The lease is renewed although the look for lost operations had no answer.
    UnansweredLooksCount,
    /// What is claimed runs, although its answer came after a look that did not name it.
    LateClaimsRun,
}

impl PlantedBug {
    /// All bugs.
    pub const ALL: [Self; 22] = [
        Self::NoFence,
        Self::StageClosedEarly,
        Self::ManyRunning,
        Self::LeaseReleasedEarly,
        Self::LocalClock,
        Self::UnknownIsDone,
        Self::UnknownIsFailed,
        Self::KeyPerRun,
        Self::LimitsInMemory,
        Self::PendingForgotten,
        Self::NoScan,
        Self::NoBackOff,
        Self::FinalOverwritten,
        Self::Unfair,
        Self::PanicEscapes,
        Self::TakeoverUnrecorded,
        Self::ClaimsAnything,
        Self::StraysKept,
        Self::TransactionLeftOpen,
        Self::AbandonedGoOn,
        Self::UnansweredLooksCount,
        Self::LateClaimsRun,
    ];

    /// Whether this is the planted bug.
    pub fn is(self, bug: Self) -> bool {
        self == bug
    }
}

impl FromStr for PlantedBug {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        if word.is_empty() || word == "Nothing" {
            return Ok(Self::Nothing);
        }
        Self::ALL
            .into_iter()
            .find(|bug| format!("{bug:?}") == word)
            .ok_or_else(|| UnknownWord(word.into()))
    }
}
