//! Operations as operators see them, for crates that do not see the store: the type is [`store::operations`].

pub use engine::{
    Event, Explanation, OperationId, Shape, State,
    explain::Standstill,
    plan::{StageShape, StepShape},
    retry::Retry,
    storage::{Entry, EntryEvent, Outcome, Snapshot},
};
pub use store::audit::{
    AuditEntry, AuditFilter, AuditLog, AuditPage, AuditResult, NewAuditEntry, Verification,
};
pub use store::engine::{ChangedElsewhere, ChangedOperation, OperationCount};
pub use store::history::HistoryEvent;
pub use store::operations::{
    ExceededLimit, LARGEST_PAGE, MOST_DAYS, MOST_HOURS, Operations, OperationsError, Page,
    PageRequest, Present, StandingCounts, StepOrder, StepReport, StuckOperation, Success,
};
