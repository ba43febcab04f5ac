//! A runtime without an operation, for tests that bring an operation of their own.

use super::{NewRuntime, ProvisionerStore};
use crate::Error;

impl ProvisionerStore {
    /// Stores a runtime that nobody asked for.
    pub async fn insert(&self, runtime: &NewRuntime) -> Result<(), Error> {
        let mut transaction = self.database().begin().await?;
        let stored = self.store_runtime(&mut transaction, runtime).await?;
        transaction.commit().await?;
        if stored { Ok(()) } else { Err(Error::Refused("its id or its name is in use".into())) }
    }
}
