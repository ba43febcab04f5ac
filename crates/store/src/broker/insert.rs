//! An instance without an operation, for tests that bring an operation of their own.

use uuid::Uuid;

use super::{BrokerStore, NewInstance};
use crate::Error;

impl BrokerStore {
    /// Stores an instance that nobody ordered.
    pub async fn insert(&self, new: &NewInstance) -> Result<(), Error> {
        new.check()?;
        let mut transaction = self.database().begin().await?;
        let stored = self.store_instance(&mut transaction, new, b"", Uuid::nil()).await?;
        transaction.commit().await?;
        if stored { Ok(()) } else { Err(Error::Refused("its id is in use".into())) }
    }
}
