//! What operators ask about many operations: which are stuck, which steps are slow or fail, how operations of each plan end, what works
//! now and what waits.
//!
//! What a reader would get wrong: journals are not read here. Ended operations are in sums, a moment after they ended; unfinished
//! ones are read as they stand, twenty thousand of them at most.

mod present;
mod steps;
mod stuck;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use serde::Serialize;

use super::{Operations, OperationsError};
use crate::engine::{EndedSum, PlanOf, Replica};
use ::engine::storage::Snapshot;

pub use present::{FailedOperation, Present, StandingCounts, WaitGroup};
pub use steps::{StepOrder, StepReport, UsualDurations};
pub use stuck::{ExceededLimit, StuckOperation};

use present::Pass;

/// How many hours of steps are kept, and so the longest time that can be asked for.
pub const MOST_HOURS: u32 = 7 * 24;
/// How many days of ended operations are kept.
pub const MOST_DAYS: u32 = 90;

/// How many unfinished operations are read at a time, and how often at most.
const PAGE: u32 = 500;
const PAGES: usize = 40;
/// How many ended operations are added in one transaction.
const BATCH: u32 = 200;
/// How many failed operations are listed.
const FAILED: u32 = 100;
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// How operations of a kind and plan ended on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Success {
    /// The day, in UTC.
    pub day: Date,
    /// The kind of operation.
    pub kind: String,
    /// The plan; empty where there is none.
    pub plan: String,
    /// How many succeeded.
    pub succeeded: i64,
    /// How many failed.
    pub failed: i64,
    /// How many were canceled.
    pub canceled: i64,
}

impl Operations {
    /// What works now, what waits and why, and what is stuck. Operations of the kinds `paced` set their own pace: they are stuck by
    /// their limits alone.
    pub async fn present(&self, paced: &[&str]) -> Result<Present, OperationsError> {
        self.present_by(paced, &self.usuals().await?).await
    }

    /// How long things usually took in the last seven days; good for a while.
    pub async fn usuals(&self) -> Result<UsualDurations, OperationsError> {
        let since = self.engine().clock().now() - hours(MOST_HOURS);
        Ok(UsualDurations::of(&self.engine().storage().step_sums(since).await?))
    }

    /// The current work, by known usual durations.
    pub async fn present_by(
        &self,
        paced: &[&str],
        usuals: &UsualDurations,
    ) -> Result<Present, OperationsError> {
        let now = self.engine().clock().now();
        let store = self.engine().storage();
        let mut pass = Pass::new(now, paced, usuals);
        let queued = store.queued().await?;
        let mut after = String::new();
        for _ in 0..PAGES {
            let page = store.admitted(&after, PAGE).await?;
            for operation in &page.operations {
                let shape = self.engine().shape(&operation.kind);
                pass.add(operation, shape.as_deref());
            }
            match page.next {
                Some(next) => after = next,
                None => return Ok(pass.end(queued, true)),
            }
        }
        Ok(pass.end(queued, false))
    }

    /// How steps went in operations that ended in the last hours, in this order, at most `limit` of them.
    pub async fn steps(
        &self,
        within: u32,
        kind: Option<&str>,
        order: StepOrder,
        limit: usize,
    ) -> Result<Vec<StepReport>, OperationsError> {
        let since = self.engine().clock().now() - hours(within.min(MOST_HOURS));
        let sums = self.engine().storage().step_sums(since).await?;
        Ok(steps::reports(&sums, kind, order, limit))
    }

    /// How operations ended on the last days, today included.
    pub async fn success(&self, days: u32) -> Result<Vec<Success>, OperationsError> {
        let now = self.engine().clock().now();
        let since = now - hours(24 * (days.min(MOST_DAYS).saturating_sub(1)));
        let found = self.engine().storage().ended_sums(since).await?;
        Ok(found.into_iter().map(Success::from).collect())
    }

    /// The operations that failed in the last day, newest first; at most a hundred.
    pub async fn failed_lately(&self) -> Result<Vec<FailedOperation>, OperationsError> {
        let since = self.engine().clock().now() - DAY;
        let found = self.engine().storage().failed_since(since, FAILED).await?;
        Ok(found.iter().map(FailedOperation::of).collect())
    }

    /// The replicas that live.
    pub async fn replicas(&self) -> Result<Vec<Replica>, OperationsError> {
        Ok(self.engine().storage().alive().await?)
    }

    /// Adds ended operations to the sums, some of them; whether there may be more.
    pub async fn count_ended(&self, plan_of: PlanOf) -> Result<bool, OperationsError> {
        let counted = self.engine().storage().count_ended(BATCH, plan_of).await?;
        Ok(counted == BATCH as usize)
    }

    /// Deletes sums that are older than anybody can ask for.
    pub async fn forget_sums(&self) -> Result<(), OperationsError> {
        let now = self.engine().clock().now();
        let (steps, ended) = (now - hours(MOST_HOURS + 24), now - hours(24 * (MOST_DAYS + 1)));
        Ok(self.engine().storage().forget_sums(steps, ended).await?)
    }
}

fn hours(hours: u32) -> SignedDuration {
    SignedDuration::from_hours(hours.into())
}

/// The time since then; nothing when that is in the future.
fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

/// Why an operation stands where it does, for people.
fn reason(operation: &Snapshot) -> String {
    let failure = operation.failure.as_ref().map(ToString::to_string);
    failure.or_else(|| operation.note.clone()).unwrap_or_default()
}

impl From<EndedSum> for Success {
    fn from(sum: EndedSum) -> Self {
        let EndedSum { day, kind, plan, succeeded, failed, canceled } = sum;
        let begin = Timestamp::from_second(day * DAY.as_secs()).unwrap_or_default();
        let day = begin.to_zoned(TimeZone::UTC).date();
        Self { day, kind, plan, succeeded, failed, canceled }
    }
}
