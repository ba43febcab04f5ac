//! Giving credentials back.

use std::time::Duration;

use clients::runtime::access_name;
use store::broker::{Attempt, Binding, Instance};

use super::{Bindings, Unbind, to_its_end};
use crate::instances::{Caller, Error, requests::require_plan};

/// When a binding is tried to be removed again.
const AGAIN: Duration = Duration::from_secs(60);

impl Bindings {
    /// Removes a binding with everything that was made for it.
    pub async fn unbind(&self, caller: &Caller, request: Unbind) -> Result<(), Error> {
        require_plan(&request.service_id, &request.plan_id)?;
        let row = self.instance(caller, &request.instance_id).await?.ok_or(Error::Gone)?;
        let found = self.platforms_binding(&row, &request.binding_id).await?;
        self.end_binding(row, found.ok_or(Error::Gone)?).await
    }

    /// Removes a binding, unless somebody else is at it.
    pub(super) async fn end_binding(&self, row: Instance, binding: Binding) -> Result<(), Error> {
        let bindings = self.clone();
        to_its_end(async move {
            let taken = bindings.store().begin_unbinding(binding.id, None, bindings.hold()).await?;
            bindings.remove(&row, &binding, taken.ok_or(Error::Busy)?).await
        })
        .await
    }

    /// Removes a binding that was taken for that.
    pub(super) async fn remove(
        &self,
        row: &Instance,
        binding: &Binding,
        attempt: Attempt,
    ) -> Result<(), Error> {
        // With a runtime goes everything in it.
        let is_there = row.runtime_id == Some(binding.runtime);
        if is_there
            && let Err(trouble) = self.revoke_in_time(row, &access_name(&binding.binding)).await
        {
            let error = trouble.into_error(row);
            self.store().postpone_unbinding(attempt, AGAIN).await?;
            return Err(match error {
                Error::Bad(why) => Error::runtime(&row.id, why.into()),
                error => error,
            });
        }
        self.store().forget_binding(attempt).await?;
        tracing::info!(instance.id = row.id, binding.id = binding.binding, "binding removed");
        Ok(())
    }
}
