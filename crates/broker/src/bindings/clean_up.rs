//! Removes bindings that have expired, that nobody came back for, and that could not be removed before.
//!
//! What a reader would get wrong: every replica does it. Each binding is taken with one statement, so that one replica gets it.

use std::time::Duration;

use base::failure::chain;

use super::Bindings;
use crate::instances::Error;

/// How many are removed in one go, one after the other.
const MOST: u32 = 50;
/// How often somebody looks.
const EVERY: Duration = Duration::from_secs(30);

/// Goes on until it is dropped.
pub async fn keep(bindings: Bindings) {
    let clock = bindings.broker().parts().clock.clone();
    loop {
        if let Err(error) = bindings.clean_up().await {
            tracing::warn!(error = chain(&error), "cannot clean up bindings, trying again later");
        }
        clock.sleep(EVERY).await;
    }
}

impl Bindings {
    /// Removes what is due, at most a few; how many were removed.
    pub async fn clean_up(&self) -> Result<usize, Error> {
        let mut removed = 0;
        for binding in self.store().due_bindings(MOST).await? {
            let taken = self.store().begin_unbinding(binding.id, None, self.hold()).await?;
            // Another replica was faster, or the instance is gone and the binding with it.
            let Some(attempt) = taken else { continue };
            let Some(row) = self.store().find(&binding.instance).await? else { continue };
            match self.remove(&row, &binding, attempt).await {
                Ok(()) => removed += 1,
                Err(error) => tracing::warn!(
                    instance.id = row.id,
                    binding.id = binding.binding,
                    error = chain(&error),
                    "binding cannot be removed, trying again later"
                ),
            }
        }
        Ok(removed)
    }
}
