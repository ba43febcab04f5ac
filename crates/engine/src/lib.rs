//! Durable staged operations: a plan is stages, a stage is steps, a step is safe to run again.
//!
//! This crate knows nothing of Kyma and nothing of SQL. A finished stage never runs again; an
//! unfinished one starts over at its first step whenever its memory is gone.

#![warn(missing_docs)]

mod codec;
mod committer;
pub mod decide;
mod drive;
pub mod engine;
pub mod events;
pub mod explain;
mod guard;
pub mod hooks;
mod in_hand;
mod landing;
mod lanes;
mod lease;
mod memory;
mod opened;
pub mod operation;
pub mod plan;
pub mod planted;
pub mod position;
pub mod retry;
mod saving;
pub mod settings;
mod signals;
pub mod step;
pub mod storage;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod watch;
mod worker;

pub use engine::{Builder, Engine, Order};
pub use events::Event;
pub use explain::{Explanation, explain};
pub use operation::Operation;
pub use plan::{Condition, Plan, PlannedStep, Shape};
pub use planted::PlantedBug;
pub use position::{Position, State, StepClock};
pub use retry::{AtLimit, Retry};
pub use settings::{HeartPlace, Settings};
pub use step::{
    Applies, Cx, Ending, RowChange, Step, StepError, StepResult, again, done, finish, wait, waiting,
};
pub use storage::{OperationId, ReplicaId, Storage, StorageError};
