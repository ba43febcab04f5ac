//! Finds the runtimes that an orchestration is for, and stores them all together.
//!
//! What a reader would get wrong: one that begins later does not fail because runtimes cannot be looked for. It waits, and fails only when
//! they still cannot be looked for once it is time to begin.

use domain::orchestration::Parameters;
use engine::step::Waiting;
use jiff::Timestamp;
use store::broker::Resolution;
use uuid::Uuid;

use super::{Orchestrating, orchestration, stored};
use crate::{
    operations::prelude::*,
    orchestrations::{
        operation_count, parameters,
        resolve::{ResolveError, ResolvedTargets, resolve},
        signal,
        targets::Matcher,
    },
};

/// How soon runtimes are looked for again while the time has not come.
pub(super) const LOOK: Duration = mins(5);

pub(super) struct ResolveTargets;

impl Step<Orchestrating> for ResolveTargets {
    const NAME: &'static str = "Resolve_Targets";
    const CALLS: &'static [&'static str] = &["gardener", "control plane"];
    const RETRY: Retry = Retry::DEFAULT.each_within(mins(10));

    async fn run(&self, cx: &mut Cx<'_, Orchestrating>) -> StepResult {
        let (env, id) = (cx.env, cx.input.orchestration);
        let row = orchestration(cx).await?;
        // The targets of a retry are stored with it. Otherwise an earlier run got through, or it was canceled before it began.
        if cx.input.retry || row.state != "pending" {
            return done();
        }
        let asked = parameters(&row).map_err(|error| stored(&error))?;
        let left = asked.strategy.schedule_time.duration_since(cx.now);
        let left = Duration::try_from(left).ok().filter(|left| !left.is_zero());
        let resolved = match (targets(cx, &asked, cx.now).await, left) {
            (Ok(resolved), Some(left)) if resolved.members.is_empty() => {
                return look_again("no runtime matches yet, and it begins later", id, left).into();
            }
            (Err(StepError::Transient { failure, .. } | StepError::Fatal(failure)), Some(left)) => {
                let message = &failure.message;
                tracing::warn!(orchestration = %id, message, "runtimes not looked for, trying again before it begins");
                let why = "runtimes cannot be looked for yet, and it begins later";
                return look_again(why, id, left).into();
            }
            (resolved, _) => resolved?,
        };
        let description = description(&resolved);
        let resolution = Resolution {
            orchestration: id,
            description: &description,
            member_description: "Operation created",
        };
        let members = &resolved.members;
        let lands = env.store().resolve_orchestration(cx.operation, &resolution, members);
        lands.await.map_err(|error| stored(&error))?;
        cx.data.resolved_at = Some(cx.now);
        cx.note(description);
        done()
    }
}

/// Runtimes are looked for again soon, and at the latest when it begins.
fn look_again(why: &'static str, orchestration: Uuid, left: Duration) -> Waiting {
    waiting(why).at_latest(LOOK.min(left)).or_signal(signal(orchestration))
}

/// The runtimes that are meant right now, each with its window as it is at `at`.
pub(super) async fn targets(
    cx: &Cx<'_, Orchestrating>,
    asked: &Parameters,
    at: Timestamp,
) -> Result<ResolvedTargets, StepError> {
    let matcher = Matcher::read(&asked.targets)
        .map_err(|problem| StepError::fatal(Failure::new("broker", "targets_invalid", problem)))?;
    resolve(cx.env, &matcher, asked, at).await.map_err(|error| match error {
        ResolveError::Windows(error) => error.into(),
        ResolveError::Store(error) => stored(&error),
    })
}

/// The description of an orchestration with these runtimes. Those that would never start are not silently missing.
pub(super) fn description(resolved: &ResolvedTargets) -> String {
    let scheduled = format!("Scheduled {}", operation_count(resolved.members.len()));
    match resolved.without_window {
        0 => scheduled,
        1 => format!("{scheduled}, 1 runtime without a maintenance window left out"),
        several => {
            format!("{scheduled}, {several} runtimes without a maintenance window left out")
        }
    }
}
