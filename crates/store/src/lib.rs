//! Everything that must survive a restart; the only crate with SQL.
//!
//! Two databases, one contract: what a test proves on one of them, it proves on both.

#[macro_use]
pub mod database;
mod accepted;
pub mod audit;
pub mod broker;
pub mod engine;
pub mod error;
#[cfg(test)]
mod explained;
pub mod history;
pub mod import;
pub mod migrate;
pub mod moment;
pub mod operations;
pub mod provisioner;
pub mod rotate;
pub mod sealed;
mod sql;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod transaction;

pub use self::engine::EngineStore;
pub use accepted::RowAcceptance;
pub use broker::BrokerStore;
pub use database::{Connection, Database, Options, Pool};
pub use error::Error;
pub use migrate::Set;
pub use moment::Moment;
pub use provisioner::ProvisionerStore;
pub use sealed::{SealError, SealLocation, Sealer};
pub use transaction::Transaction;
