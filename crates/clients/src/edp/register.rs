//! Registering an account, and taking it off again, as a whole.
//!
//! What a reader would get wrong: what is there already is kept. Nothing is deleted and made again
//! unless its value is wrong, and that once per call, so that two brokers cannot chase each other.

use super::{Edp, KEYS, Metadata, Tenant};
use crate::error::{Error, Kind};

impl Edp {
    /// Sees to it that the tenant is there with this metadata; what an earlier call made is kept.
    pub async fn register(&self, tenant: &Tenant, metadata: &[Metadata]) -> Result<(), Error> {
        match self.create_tenant(tenant).await {
            Err(error) if error.kind == Kind::AlreadyExists => {}
            made => made?,
        }
        let mut known = None;
        for entry in metadata {
            match self.create_metadata(tenant, entry).await {
                Err(error) if error.kind == Kind::AlreadyExists => {}
                made => {
                    made?;
                    continue;
                }
            }
            let known = match &mut known {
                Some(known) => known,
                none => none.insert(self.metadata(tenant).await?),
            };
            if !known.contains(entry) {
                self.replace(tenant, entry).await?;
            }
        }
        Ok(())
    }

    async fn replace(&self, tenant: &Tenant, entry: &Metadata) -> Result<(), Error> {
        self.delete_metadata(tenant, &entry.key).await?;
        self.create_metadata(tenant, entry).await.map_err(|error| match error.kind {
            // Created concurrently. The step tries again, up to its limit.
            Kind::AlreadyExists => Error { kind: Kind::Changed, ..error },
            _ => error,
        })
    }

    /// Sees to it that neither metadata nor tenant is there.
    pub async fn deregister(&self, tenant: &Tenant) -> Result<(), Error> {
        for key in KEYS {
            self.delete_metadata(tenant, key).await?;
        }
        self.delete_tenant(tenant).await
    }
}
