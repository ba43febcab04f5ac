//! Fills free slots with the upgrades of runtimes that are due, until all have ended.
//!
//! What a reader would get wrong: each run looks at everything anew. What was started, ended, paused or canceled meanwhile is in the
//! rows; the step itself remembers nothing, so it can be repeated anywhere.

use domain::{OperationId, orchestration::Kind};
use engine::step::Waiting;
use jiff::Timestamp;
use store::broker::{Counts, Member, MemberStart, Orchestration, StartResult};
use uuid::Uuid;

use super::{Orchestrating, orchestration, stored};
use crate::{
    instances::{Error, Upgrade, pairs},
    operations::prelude::*,
    orchestrations::{
        FailureAllowance, Pace, is_changed, kind, pace, parameters, signal, windows::Window,
    },
};

/// How many runtimes one run looks at: the rest is for the next run, which comes at once.
const AT_ONCE: u32 = 50;
/// When the next run comes if there is more to start.
const SOON: Duration = Duration::from_millis(10);
/// When a runtime with a maintenance window is looked at again that another operation keeps busy.
const BUSY: Duration = mins(1);
/// When it looks by itself, at the latest.
const POLL: Duration = secs(30);

pub(super) struct StartOperations;

impl Step<Orchestrating> for StartOperations {
    const NAME: &'static str = "Start_Operations";
    const RETRY: Retry =
        Retry::DEFAULT.polling(secs(5), POLL).failing_for(Duration::from_hours(24));

    async fn run(&self, cx: &mut Cx<'_, Orchestrating>) -> StepResult {
        let row = orchestration(cx).await?;
        // Here, and not in a step before: a driver that has come this far may find the retry of a later one, which waits for its end.
        if row.state == "retrying" {
            cx.env.store().begin_retry(row.id).await.map_err(|error| stored(&error))?;
        }
        if row.state == "canceling" {
            cx.data.canceled = true;
            let store = cx.env.store();
            let called_off = store.call_off_members(row.id, "Operation was canceled");
            called_off.await.map_err(|error| stored(&error))?;
        }
        let counts = counts(cx, &row).await?;
        if counts.running() + counts.waiting() == 0 {
            return done();
        }
        if row.paused || counts.waiting() == 0 || cx.data.canceled {
            return sleep(&row, &counts, None).into();
        }
        let asked = parameters(&row).map_err(|error| stored(&error))?;
        let forgiven = FailureAllowance {
            canaries: row.forgiven_canaries.unsigned_abs(),
            without_canaries: row.released,
            failures: row.forgiven.unsigned_abs(),
        };
        let wave = match pace(&asked.strategy, forgiven, &counts) {
            Pace::Start { wave } => wave,
            Pace::Pause(reason) => {
                let paused = cx.env.store().pause_orchestration(row.id, &reason);
                paused.await.map_err(|error| stored(&error))?;
                tracing::warn!(orchestration = %row.id, reason, "orchestration paused");
                return sleep(&Orchestration { paused: true, ..row }, &counts, None).into();
            }
        };
        let free = row.workers.unsigned_abs().saturating_sub(counts.running());
        if free == 0 {
            return sleep(&row, &counts, None).into();
        }
        let change = cx.env.upgrade(row.id, kind(&row), &asked);
        let most = u32::try_from(free).unwrap_or(AT_ONCE).min(AT_ONCE);
        let due = cx.env.store().due_members(row.id, wave, cx.now, most);
        let due = due.await.map_err(|error| stored(&error))?;
        for member in &due {
            if !start(cx, &row, member, &change).await? {
                break;
            }
        }
        let after = self::counts(cx, &row).await?;
        let next = if due.is_empty() {
            let next = cx.env.store().next_window(row.id, wave, cx.now);
            next.await.map_err(|error| stored(&error))?
        } else {
            Some(cx.now)
        };
        sleep(&row, &after, next.map(|next| until(cx.now, next))).into()
    }
}

/// Starts one runtime, or finds why it does not. `false`: there is no slot any more.
async fn start(
    cx: &Cx<'_, Orchestrating>,
    row: &Orchestration,
    member: &Member,
    change: &Upgrade,
) -> Result<bool, StepError> {
    let store = cx.env.store();
    if member.window_end.is_some_and(|end| end <= cx.now) {
        return postpone(cx, member, cx.now).await;
    }
    let id = OperationId::from(member.operation);
    let change = for_plan(change, kind(row), &member.plan_name);
    let begin = MemberStart {
        orchestration: row.id,
        description: "Operation accepted",
        announced: change.notify && !change.dry_run,
    };
    let prepared = cx.env.broker.prepare_upgrade(&member.instance, id, change).await;
    let why = match prepared {
        Ok(operation) => {
            // Behind another operation it could begin after its window has closed.
            let pairs = |unfinished: &[_]| match member.window_end {
                Some(_) => pairs::upgrade_alone(member.operation, unfinished),
                None => pairs::upgrade_verdict(member.operation, unfinished),
            };
            let started = store.start_member(&begin, operation, &pairs).await;
            match started.map_err(|error| stored(&error))? {
                StartResult::Yes | StartResult::Before => return Ok(true),
                StartResult::NoSlot => return Ok(false),
                StartResult::Refused(other) if !is_removal(cx, other).await? => {
                    return postpone(cx, member, cx.now + BUSY).await;
                }
                StartResult::Refused(other) => {
                    format!("operation preempted by deprovisioning {other}")
                }
                StartResult::Gone => "the runtime was removed".into(),
            }
        }
        Err(Error::NotFound(_)) => "the runtime was removed".into(),
        Err(Error::Busy) => "the runtime is being removed or suspended".into(),
        Err(Error::Unchangeable(why)) => why,
        Err(Error::Internal(error)) => {
            tracing::error!(instance.id = member.instance, %error, "runtime cannot be upgraded");
            "what is stored about the runtime cannot be read".into()
        }
        Err(error) => return Err(stored(&error)),
    };
    store.skip_member(member.operation, &why).await.map_err(|error| stored(&error))?;
    Ok(true)
}

/// The change for a runtime of this plan: the customer is notified of what was announced.
fn for_plan(change: &Upgrade, kind: Kind, plan_name: &str) -> Upgrade {
    Upgrade { notify: change.notify && is_changed(kind, plan_name), ..change.clone() }
}

/// Gives a runtime another begin: from `from` on, in the same window while that is open, else in the next one.
async fn postpone(
    cx: &Cx<'_, Orchestrating>,
    member: &Member,
    from: Timestamp,
) -> Result<bool, StepError> {
    let store = cx.env.store();
    let changed = match opening(member, from) {
        Some((begin, end)) => store.move_window(member.operation, begin, end).await,
        None => store.skip_member(member.operation, "its maintenance window never opens").await,
    };
    changed.map_err(|error| stored(&error))?;
    Ok(true)
}

/// When a runtime may start that may not start before `from`.
fn opening(member: &Member, from: Timestamp) -> Option<(Timestamp, Timestamp)> {
    if let Some(end) = member.window_end.filter(|end| from < *end) {
        return Some((from, end));
    }
    let window: Window = member.window_rule.as_deref()?.parse().ok()?;
    window.open_or_next(from).map(|opening| (opening.begin, opening.end))
}

/// Whether an operation removes or suspends its runtime.
async fn is_removal(cx: &Cx<'_, Orchestrating>, operation: Uuid) -> Result<bool, StepError> {
    let found = cx.env.broker.snapshot(operation).await.map_err(|error| stored(&error))?;
    Ok(found.is_some_and(|found| found.kind == pairs::DEPROVISION))
}

async fn counts(cx: &Cx<'_, Orchestrating>, row: &Orchestration) -> Result<Counts, StepError> {
    cx.env.store().orchestration_counts(row.id).await.map_err(|error| stored(&error))
}

/// Waits until an operation ends or a request arrives, and looks again at the latest after `at_latest`.
fn sleep(row: &Orchestration, counts: &Counts, at_latest: Option<Duration>) -> Waiting {
    let done = counts.total() - counts.running() - counts.waiting();
    let doing = if row.paused { "paused" } else { "upgrading runtimes" };
    let waiting = waiting(format!("{doing}: {done} of {} done", counts.total()));
    let waiting = waiting.at_latest(at_latest.unwrap_or(POLL).min(POLL));
    waiting.or_signal(signal(row.id))
}

fn until(now: Timestamp, next: Timestamp) -> Duration {
    next.duration_since(now).try_into().unwrap_or(SOON).max(SOON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::UpgradeTarget;

    #[test]
    fn customers_are_notified_of_no_upgrade_that_changes_nothing() {
        let change = Upgrade {
            orchestration: Some(Uuid::from_u128(1)),
            dry_run: false,
            notify: true,
            target: UpgradeTarget::Kyma { version: None },
        };
        let notified = |kind, plan| for_plan(&change, kind, plan).notify;

        for plan in ["aws", "own_cluster"] {
            assert!(notified(Kind::UpgradeKyma, plan), "{plan}");
        }
        for plan in ["aws", "preview"] {
            assert!(notified(Kind::UpgradeCluster, plan), "{plan}");
        }
        assert!(!notified(Kind::UpgradeKyma, "preview"));
        assert!(!notified(Kind::UpgradeCluster, "own_cluster"));
        let without = Upgrade { notify: false, ..change };
        assert!(!for_plan(&without, Kind::UpgradeKyma, "aws").notify);
    }
}
