//! The databases of the original programs, read for `kcp import`.
//!
//! What a reader would get wrong: nothing here writes, and every row is read as JSON. Columns that a generation of the original
//! has not, or has besides, are then no error: only the tables and columns that nothing can do without are asked for.

mod cipher;
mod error;
mod keb;
mod provisioner;
mod read;
mod report;
mod source;

pub use cipher::{Cipher, CipherError, SourceKey};
pub use error::Error;
pub use keb::{
    ClusterConfig, ClusterSetup, KebArchived, KebBinding, KebInstance, KebMember, KebOperation,
    KebOrchestration, KebSource,
};
pub use provisioner::{
    KymaComponentRow, KymaConfigRow, ProvisionerCluster, ProvisionerOperation, ProvisionerSource,
    Upgrade,
};
pub use read::RowError;
pub use report::{Count, Finding, Mode, Report};
