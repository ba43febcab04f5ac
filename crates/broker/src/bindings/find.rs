//! Reads of bindings.

use jiff::Timestamp;
use serde::Serialize;
use store::broker::{Binding, BindingState, Instance};

use super::{BindingCredentials, Bindings, bound, is_of_another_runtime, is_usable, operator};
use crate::instances::{Caller, Error, Progress};

/// How far a binding is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastBindingOperation {
    pub progress: Progress,
    /// A description for people.
    pub description: &'static str,
}

/// A binding without its credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BindingSummary {
    /// As the platform calls it.
    pub id: String,
    /// `creating`, `active`, `expired`, `removing`, or `gone`: it was for a runtime that the instance does not have any more.
    pub state: &'static str,
    /// For how long it was asked for.
    pub expiration_seconds: u64,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
}

impl Bindings {
    /// A binding with its credentials.
    pub async fn find(
        &self,
        caller: &Caller,
        instance: &str,
        id: &str,
    ) -> Result<BindingCredentials, Error> {
        let missing = |text: &str| Error::NotFound(text.to_owned());
        let row = self.instance(caller, instance).await?;
        let row = row.ok_or_else(|| missing("Binding not found"))?;
        let found = self.platforms_binding(&row, id).await?;
        let binding = found.ok_or_else(|| missing("Binding not found"))?;
        match binding.state {
            BindingState::Creating => return Err(missing("Binding creation in progress")),
            BindingState::Active if binding.expires_at <= self.now() => {
                return Err(missing("Binding expired"));
            }
            BindingState::Active if is_usable(&binding, &row, self.now()) => {}
            BindingState::Active | BindingState::Removing => {
                return Err(missing("Binding not found"));
            }
        }
        bound(binding, false)
    }

    /// How far a binding is. Platforms need not ask: a bind and an unbind are over when they are answered.
    pub async fn last_operation(
        &self,
        caller: &Caller,
        instance: &str,
        id: &str,
    ) -> Result<LastBindingOperation, Error> {
        let missing = || Error::NotFound("Binding not found".into());
        let row = self.instance(caller, instance).await?.ok_or_else(missing)?;
        let binding = self.platforms_binding(&row, id).await?.ok_or_else(missing)?;
        let (progress, description) = match binding.state {
            BindingState::Creating => (Progress::InProgress, "the binding is being created"),
            BindingState::Active => (Progress::Succeeded, "the binding was created"),
            BindingState::Removing => (Progress::InProgress, "the binding is being removed"),
        };
        Ok(LastBindingOperation { progress, description })
    }

    /// A binding that a platform has made.
    pub(super) async fn platforms_binding(
        &self,
        row: &Instance,
        id: &str,
    ) -> Result<Option<Binding>, Error> {
        if operator::is_reserved(id) {
            return Ok(None);
        }
        Ok(self.store().find_binding(&row.id, id).await?)
    }

    /// All bindings of an instance.
    pub async fn list(
        &self,
        caller: &Caller,
        instance: &str,
    ) -> Result<Vec<BindingSummary>, Error> {
        let missing = || Error::NotFound(format!("instance {instance} does not exist"));
        let row = self.instance(caller, instance).await?.ok_or_else(missing)?;
        let now = self.now();
        let mut found = self.store().bindings_of(&row.id).await?;
        found.retain(|it| caller.tenant.is_none() || !operator::is_reserved(&it.binding));
        let summary = |it: Binding| BindingSummary {
            state: match it.state {
                BindingState::Active if it.expires_at <= now => "expired",
                BindingState::Active if is_of_another_runtime(&it, &row) => "gone",
                state => state.as_str(),
            },
            id: it.binding,
            expiration_seconds: it.lifetime.as_secs(),
            created_at: it.created_at,
            expires_at: it.expires_at,
        };
        Ok(found.into_iter().map(summary).collect())
    }
}
