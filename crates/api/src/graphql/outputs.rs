//! What clients read, name for name. What they dereference without looking is never null.

mod cluster;
mod kyma;
mod limits;
mod operation;
mod provider;
mod runtime;
mod words;

pub(super) use limits::OperationLimits;
pub(super) use operation::OperationStatus;
pub(super) use runtime::RuntimeStatus;
pub(super) use words::OperationState;
