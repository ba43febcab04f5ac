//! The context of one page of a job.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::AtomicU32},
};

use base::{caller, failure::chain};
use engine::StepError;
use jiff::Timestamp;
use uuid::Uuid;

use super::{
    Env, MOST_ACTIONS,
    audited::JobAudit,
    cursor::store_failed,
    report::{Outcome, Report},
    run::Memory,
};
use crate::instances::Caller;

/// Where a job stands after a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// There may be more behind this cursor.
    More(String),
    /// That was all.
    End,
}

impl From<Option<String>> for Next {
    fn from(cursor: Option<String>) -> Self {
        cursor.map_or(Self::End, Self::More)
    }
}

/// The result of acting on a candidate.
pub(super) enum ActionResult {
    /// It is done, in these words.
    Done(String),
    /// Nothing had to be done, or nothing can be done yet.
    Skipped(String),
}

impl ActionResult {
    pub(super) fn done(text: impl Into<String>) -> Self {
        Self::Done(text.into())
    }

    pub(super) fn skipped(text: impl Into<String>) -> Self {
        Self::Skipped(text.into())
    }
}

/// A change that a job is about to make.
#[derive(Clone, Copy)]
pub(super) struct Change<'a> {
    /// The candidate, as the report names it.
    pub(super) item: &'a str,
    /// The action, as the audit names it.
    pub(super) action: &'static str,
    /// The instance that it is about.
    pub(super) instance: Option<&'a str>,
    /// The text of a dry run.
    pub(super) would: &'a str,
}

/// The action on a candidate. Boxed: it is large, and a page has it in its own future otherwise.
pub(super) type Action<'a> =
    Pin<Box<dyn Future<Output = Result<ActionResult, ActionError>> + Send + 'a>>;

/// Why a candidate could not be acted on.
pub(super) enum ActionError {
    /// For the report; the next run tries again.
    Failed(String),
    /// The run ends here: another replica has it, or this one stops.
    NotHeld,
}

impl From<clients::Error> for ActionError {
    fn from(error: clients::Error) -> Self {
        if error.kind == clients::Kind::NotHeld {
            Self::NotHeld
        } else {
            Self::Failed(chain(&error))
        }
    }
}

impl From<crate::instances::Error> for ActionError {
    fn from(error: crate::instances::Error) -> Self {
        Self::Failed(chain(&error))
    }
}

impl From<store::Error> for ActionError {
    fn from(error: store::Error) -> Self {
        Self::Failed(chain(&error))
    }
}

impl From<StepError> for ActionError {
    fn from(error: StepError) -> Self {
        match error {
            StepError::NotHeld => Self::NotHeld,
            error => Self::Failed(error.to_string()),
        }
    }
}

/// The context of one page.
pub(super) struct PageCx<'a> {
    pub(super) env: &'a Env,
    /// Whether nothing may be changed.
    pub(super) dry_run: bool,
    pub(super) now: Timestamp,
    /// Where the page before ended.
    pub(super) cursor: Option<&'a str>,
    /// Memory between pages on one replica; another replica computes it again.
    pub(super) memory: &'a mut Memory,
    pub(super) report: &'a mut Report,
    /// The job.
    pub(super) job: &'static str,
    /// The run, as an operation.
    pub(super) run: Uuid,
    /// Where its changes are written down.
    pub(super) audit: JobAudit,
    /// On how many candidates this page has acted.
    pub(super) acted: u32,
}

impl PageCx<'_> {
    /// The job as a caller: the user agent is kept with every operation that a job begins.
    pub(super) fn caller(&self) -> Caller {
        let user_agent = Some(format!("kcp-job/{}", self.job));
        Caller { any_tenant: true, user_agent, ..Caller::default() }
    }

    /// Whether the page has acted as often as it may.
    pub(super) fn is_full(&self) -> bool {
        self.acted >= MOST_ACTIONS
    }

    /// Acts on a candidate with an entry in the audit, or tells in a dry run that it would. Outside calls have a key of the candidate's
    /// own, so that a page which is repeated repeats them under the same keys.
    pub(super) async fn act(
        &mut self,
        change: Change<'_>,
        action: Action<'_>,
    ) -> Result<(), StepError> {
        let Change { item, would, .. } = change;
        if self.dry_run {
            self.report.note(item, Outcome::WouldDo, would);
            return Ok(());
        }
        self.acted += 1;
        let entry = self.audit.begin(change.action, item, change.instance).await?;
        let acted = match caller::current() {
            Some(caller) => {
                let step = format!("{}/{item}", caller.step);
                let calls = Arc::<AtomicU32>::default();
                caller::Caller { step, calls, ..caller }.scope(action).await
            }
            None => action.await,
        };
        let (outcome, text) = match acted {
            Ok(ActionResult::Done(text)) => (Outcome::Done, text),
            Ok(ActionResult::Skipped(text)) => (Outcome::Skipped, text),
            Err(ActionError::Failed(text)) => (Outcome::Failed, text),
            Err(ActionError::NotHeld) => return Err(StepError::NotHeld),
        };
        self.audit.finish(entry, outcome, &text).await;
        let (job, outcome_word) = (self.job, outcome.as_str());
        match outcome {
            Outcome::Failed => {
                tracing::warn!(target: "audit", job, item, text, "job could not act");
            }
            _ => {
                tracing::info!(target: "audit", job, item, outcome = outcome_word, text, "job acted");
            }
        }
        self.report.note(item, outcome, text);
        Ok(())
    }

    /// Notes a finding without acting on it. All of them are logged: the report has room for the first ones alone.
    pub(super) fn found(&mut self, item: &str, text: impl Into<String>) {
        let (job, text) = (self.job, text.into());
        tracing::info!(target: "drift", job, item, text, "job found a difference");
        let outcome = if self.dry_run { Outcome::WouldDo } else { Outcome::Done };
        self.report.note(item, outcome, text);
    }

    /// Notes instances of a list that cannot be read: the others are worked on. A page that is read again has them again.
    pub(super) async fn unreadable(&mut self, instances: &[String]) -> Result<(), StepError> {
        if instances.is_empty() {
            return Ok(());
        }
        let stored = self.report.omitted - self.report.overflow.len() as u64;
        let store = &self.env.broker.parts().store;
        let noted = store.noted_items(self.run, stored, instances).await;
        let noted = noted.map_err(|error| store_failed(&error))?;
        for id in instances {
            let Report { details, overflow, .. } = &*self.report;
            let mut here = details.iter().chain(overflow);
            if !noted.contains(id) && !here.any(|detail| detail.item == *id) {
                self.report.note(id, Outcome::Failed, "the instance cannot be read");
            }
        }
        Ok(())
    }

    /// Notes a candidate that needs nothing.
    pub(super) fn skip(&mut self, item: &str, text: impl Into<String>) {
        self.report.note(item, Outcome::Skipped, text);
    }
}
