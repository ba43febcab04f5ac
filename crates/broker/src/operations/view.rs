//! Operations as operators see them, for crates that do not see the store: the type is [`store::operations`].

pub use engine::{Event, Explanation, OperationId, State, storage::Entry, storage::Snapshot};
pub use store::audit::{AuditLog, AuditResult, NewAuditEntry, Verification};
pub use store::history::HistoryEvent;
pub use store::operations::{LARGEST_PAGE, Operations, OperationsError, Page, PageRequest};
