//! One picture of an orchestration: how far each wave is, how fast it goes, when it will end, what failed, what is slow.

use std::collections::BTreeMap;

use domain::orchestration::State;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use store::broker::{Counts, Member, MemberFilter, Span};
use uuid::Uuid;

use super::{Orchestrations, kind};
use crate::instances::Error;

/// More failed operations than there are.
const ALL: u32 = 1_000_000;
/// How many operations are named of each reason, and how many slow ones.
const SHOWN: usize = 5;

/// How far an orchestration is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The orchestration.
    #[serde(rename = "orchestrationID")]
    pub orchestration_id: Uuid,
    /// What is done to each runtime.
    #[serde(rename = "type")]
    pub kind: domain::orchestration::Kind,
    /// How far it is.
    pub state: String,
    /// Whether nothing starts.
    pub paused: bool,
    /// Why not.
    pub pause_reason: Option<String>,
    /// How many runtimes at a time.
    pub workers: i64,
    /// How many runtimes.
    pub total: u64,
    /// How many of them have ended, well or not.
    pub done: u64,
    /// The canaries, where there are any, and all others.
    pub waves: Vec<Wave>,
    /// How many runtimes ended in an hour, so far.
    pub per_hour: Option<f64>,
    /// When the last one will have ended, if it goes on like that.
    pub expected_end: Option<Timestamp>,
    /// What failed, by reason; the most frequent first.
    pub failures: Vec<Failures>,
    /// What has been running for longest.
    pub slowest: Vec<Slow>,
}

/// How far one wave is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Wave {
    /// `canary` or `all`.
    pub wave: &'static str,
    /// How many runtimes.
    pub total: u64,
    /// How many of them have ended.
    pub done: u64,
    /// How many are how far.
    pub states: BTreeMap<String, u64>,
}

/// Runtimes that failed for one reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failures {
    /// The system at fault.
    pub component: String,
    /// A stable code.
    pub reason: String,
    /// What the first of them said.
    pub message: String,
    /// How many.
    pub count: u64,
    /// Some of them.
    pub operations: Vec<Uuid>,
}

/// A runtime that takes long.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Slow {
    /// The operation.
    #[serde(rename = "operationID")]
    pub operation_id: Uuid,
    /// The name of the Shoot.
    pub shoot_name: String,
    /// Since when it runs.
    pub started_at: Timestamp,
    /// What it is at.
    pub description: String,
}

impl Progress {
    /// Whether nothing has happened between the two, except that time has passed.
    pub(super) fn is_as_far_as(&self, other: &Self) -> bool {
        let Self { per_hour, expected_end, .. } = *self;
        *self == Self { per_hour, expected_end, ..other.clone() }
    }
}

impl Orchestrations {
    /// How far an orchestration is.
    pub async fn progress(&self, id: &str) -> Result<Progress, Error> {
        let row = self.find(id, "getting").await?;
        let counts = self.store().orchestration_counts(row.id).await?;
        let span = self.store().orchestration_span(row.id).await?;
        let of = |state: &str, most| MemberFilter {
            orchestration: row.id,
            states: vec![state.into()],
            current: true,
            skip: 0,
            most,
        };
        let failed = self.store().members(&of("failed", ALL)).await?.members;
        let running = self.store().members(&of("in progress", ALL)).await?.members;
        let now = self.0.broker.parts().clock.now();
        let is_final = row.state.parse().is_ok_and(State::is_final);
        let rate = rate(&span, if is_final { span.last_ended.unwrap_or(now) } else { now });
        let remaining = counts.running() + counts.waiting();
        let expected_end = rate.filter(|_| !row.paused && !is_final).and_then(|per_hour| {
            let hours = f64::from(u32::try_from(remaining).ok()?) / per_hour;
            now.checked_add(SignedDuration::try_from_secs_f64(hours * 3600.0).ok()?).ok()
        });
        Ok(Progress {
            orchestration_id: row.id,
            kind: kind(&row),
            state: row.state,
            paused: row.paused,
            pause_reason: row.pause_reason,
            workers: row.workers,
            total: counts.total(),
            done: counts.total() - remaining,
            waves: waves(&counts),
            per_hour: rate,
            expected_end,
            failures: failures(&failed),
            slowest: slowest(running),
        })
    }
}

/// How many ended in an hour, from the first beginning until `until`.
fn rate(span: &Span, until: Timestamp) -> Option<f64> {
    let hours = until.duration_since(span.first_started?).as_secs_f64() / 3600.0;
    let ended = f64::from(u32::try_from(span.ended).ok()?);
    (hours > 0.0).then_some(ended / hours)
}

fn waves(counts: &Counts) -> Vec<Wave> {
    let wave = |(wave, name)| {
        let counts = counts.of_wave(wave);
        let mut states = BTreeMap::new();
        for count in &counts.0 {
            *states.entry(count.state.clone()).or_default() += count.number.unsigned_abs();
        }
        let done = counts.total() - counts.running() - counts.waiting();
        Wave { wave: name, total: counts.total(), done, states }
    };
    [(0, "canary"), (1, "all")].map(wave).into_iter().filter(|wave| wave.total > 0).collect()
}

fn failures(failed: &[Member]) -> Vec<Failures> {
    let mut groups: BTreeMap<(&str, &str), Failures> = BTreeMap::new();
    for member in failed {
        let failure = member.failure.as_ref();
        let component = failure.map_or("", |failure| &failure.component);
        let reason = failure.map_or("", |failure| &failure.reason);
        let group = groups.entry((component, reason)).or_insert_with(|| Failures {
            component: component.into(),
            reason: reason.into(),
            message: member.description.clone(),
            count: 0,
            operations: Vec::new(),
        });
        group.count += 1;
        if group.operations.len() < SHOWN {
            group.operations.push(member.operation);
        }
    }
    let mut groups: Vec<Failures> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    groups
}

fn slowest(running: Vec<Member>) -> Vec<Slow> {
    let slow = |member: Member| {
        Some(Slow {
            operation_id: member.operation,
            shoot_name: member.shoot_name,
            started_at: member.started_at?,
            description: member.description,
        })
    };
    let mut slow: Vec<Slow> = running.into_iter().filter_map(slow).collect();
    slow.sort_by_key(|slow| slow.started_at);
    slow.truncate(SHOWN);
    slow
}
