//! What jobs change is in the audit, as what callers change: the entry comes before the action (`docs/decisions/0121`).
//!
//! What a reader would get wrong: a page that is repeated after a crash has its entries twice. The first ones have no result, and become
//! `unknown`.

use base::failure::chain;
use engine::{OperationId, StepError};
use serde_json::{Value, json};
use store::audit::{AuditLog, AuditResult, NewAuditEntry};
use uuid::Uuid;

use super::{Env, cursor::store_failed, report::Outcome};

/// The issuer in audit entries of jobs.
const ISSUER: &str = "job";

/// Writes the entries of one run.
#[derive(Clone)]
pub(super) struct JobAudit {
    log: AuditLog,
    job: &'static str,
    run: OperationId,
    requested_by: Option<String>,
}

impl JobAudit {
    pub(super) fn new(
        env: &Env,
        job: &'static str,
        run: OperationId,
        requested_by: Option<&str>,
    ) -> Self {
        let log = AuditLog::new(env.broker.parts().operations.clone());
        Self { log, job, run, requested_by: requested_by.map(str::to_owned) }
    }

    /// Stores that something is about to be done.
    pub(super) async fn begin(
        &self,
        action: &str,
        item: &str,
        instance: Option<&str>,
    ) -> Result<Uuid, StepError> {
        let details = json!({ "item": item, "requested_by": self.requested_by });
        self.begin_entry(action, instance, details).await
    }

    /// Stores that a run begins which was started by the clock. The word is that of an operator's request for one.
    pub(super) async fn begin_run(&self, dry_run: bool) -> Result<Uuid, StepError> {
        self.begin_entry("runJob", None, json!({ "job": self.job, "dry_run": dry_run })).await
    }

    async fn begin_entry(
        &self,
        action: &str,
        instance: Option<&str>,
        details: Value,
    ) -> Result<Uuid, StepError> {
        let entry = NewAuditEntry {
            action: action.to_owned(),
            subject: self.job.to_owned(),
            issuer: ISSUER.to_owned(),
            agent: Some(format!("kcp-job/{}", self.job)),
            instance: instance.map(str::to_owned),
            operation: Some(self.run),
            details,
            ..NewAuditEntry::default()
        };
        self.log.begin(&entry).await.map_err(|error| store_failed(&error))
    }

    /// Stores what came of it.
    pub(super) async fn finish(&self, id: Uuid, outcome: Outcome, text: &str) {
        let reason = match outcome {
            Outcome::Skipped | Outcome::WouldDo => format!("nothing was done: {text}"),
            Outcome::Done | Outcome::Failed => text.to_owned(),
        };
        let accepted = outcome != Outcome::Failed;
        let result = AuditResult { accepted, reason: Some(reason), ..AuditResult::default() };
        // In a task of its own: a step that is dropped must not leave the result unknown.
        let log = self.log.clone();
        let stored = tokio::spawn(async move {
            if let Err(error) = log.finish(id, &result).await {
                tracing::warn!(error = chain(&error), audit.id = %id, "audit result not stored");
            }
        });
        let _ = stored.await;
    }
}
