//! Removes bindings that have expired, that nobody came back for, and that could not be removed before.
//!
//! What a reader would get wrong: each binding is taken with one statement, so that of several callers one gets it.

use base::failure::chain;
use store::broker::Binding;

use super::Bindings;
use crate::instances::Error;

/// How many are removed in one go, one after the other.
const MOST: u32 = 50;

impl Bindings {
    /// Removes what is due, at most a few; how many were removed.
    pub async fn clean_up(&self) -> Result<usize, Error> {
        let mut removed = 0;
        for binding in self.due(MOST).await? {
            match self.remove_due(&binding).await {
                Ok(did) => removed += usize::from(did),
                Err(error) => tracing::warn!(
                    instance.id = binding.instance,
                    binding.id = binding.binding,
                    error = chain(&error),
                    "binding cannot be removed, trying again later"
                ),
            }
        }
        Ok(removed)
    }

    /// The bindings that are due to be removed, at most so many.
    pub async fn due(&self, most: u32) -> Result<Vec<Binding>, Error> {
        Ok(self.store().due_bindings(most).await?)
    }

    /// Removes a binding that is due; whether it did. It is due again later when it cannot be removed.
    pub async fn remove_due(&self, binding: &Binding) -> Result<bool, Error> {
        let taken = self.store().begin_unbinding(binding.id, None, self.hold()).await?;
        // Another process was faster, or the instance is gone and the binding with it.
        let Some(attempt) = taken else { return Ok(false) };
        let Some(row) = self.store().find(&binding.instance).await? else { return Ok(false) };
        self.remove(&row, binding, attempt).await?;
        Ok(true)
    }
}
