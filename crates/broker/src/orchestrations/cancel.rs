//! Cancel, pause, resume, and another number of workers: changes that the driver finds.

use serde_json::json;

use super::{CreatedOrchestration, Orchestrations, validate};
use crate::instances::Error;

impl Orchestrations {
    /// Starts nothing more; what runs is seen through. One that has ended stays as it is.
    pub async fn cancel(&self, id: &str) -> Result<CreatedOrchestration, Error> {
        let row = self.find(id, "canceling").await?;
        if self.store().cancel_orchestration(row.id, "Orchestration was canceled").await? {
            self.wake(row.id).await;
        }
        Ok(CreatedOrchestration { orchestration_id: row.id })
    }

    /// Starts nothing more until it is resumed.
    pub async fn pause(&self, id: &str) -> Result<CreatedOrchestration, Error> {
        let row = self.find(id, "pausing").await?;
        let paused = self.store().pause_orchestration(row.id, "paused on request").await?;
        if !paused && !row.paused {
            return Err(ended(&row.state, "paused"));
        }
        self.wake(row.id).await;
        Ok(CreatedOrchestration { orchestration_id: row.id })
    }

    /// Goes on, whatever has failed so far.
    pub async fn resume(&self, id: &str) -> Result<CreatedOrchestration, Error> {
        let row = self.find(id, "resuming").await?;
        if !self.store().resume_orchestration(row.id).await? {
            return Err(Error::Unchangeable("the orchestration is not paused".into()));
        }
        self.wake(row.id).await;
        Ok(CreatedOrchestration { orchestration_id: row.id })
    }

    /// Runs so many at a time from now on. What runs goes on.
    pub async fn change_workers(
        &self,
        id: &str,
        workers: i64,
    ) -> Result<CreatedOrchestration, Error> {
        let row = self.find(id, "changing the workers of").await?;
        if workers < 1 {
            return Err(Error::Bad("workers must be at least 1".into()));
        }
        let workers = validate::workers("workers", workers).map_err(Error::Bad)?;
        let state: Option<domain::orchestration::State> = row.state.parse().ok();
        if state.is_none_or(domain::orchestration::State::is_final) {
            return Err(ended(&row.state, "changed"));
        }
        let field: &[&str] = &["strategy", "parallel", "workers"];
        self.store().change_workers(row.id, workers, &[(field, json!(workers))]).await?;
        self.wake(row.id).await;
        Ok(CreatedOrchestration { orchestration_id: row.id })
    }
}

fn ended(state: &str, what: &str) -> Error {
    Error::Unchangeable(format!("an orchestration that is {state} cannot be {what}"))
}
