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
/// From how much time a rate is given while none has succeeded.
const TELLING: SignedDuration = SignedDuration::from_mins(1);
/// How many operations are named of each reason, and how many slow ones.
const SHOWN: usize = 5;

/// How far an orchestration is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The orchestration.
    #[serde(rename = "orchestrationID")]
    pub orchestration_id: Uuid,
    /// The kind of the upgrade.
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
    /// How many runtimes ended in an hour in which some were upgraded, so far; none while that is not known yet.
    pub per_hour: Option<f64>,
    /// When the last one will have ended, if it goes on like that.
    pub expected_end: Option<Timestamp>,
    /// Failures by reason; the most frequent first.
    pub failures: Vec<Failures>,
    /// The slowest operations that still run.
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
    /// The message of the first of them.
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
    /// Its progress.
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
        let spans = self.store().orchestration_spans(row.id).await?;
        let last_window = self.store().last_window(row.id).await?;
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
        let rate = rate(&spans, succeeded(&counts) > 0, now);
        let remaining = counts.running() + counts.waiting();
        let going = rate.filter(|_| !row.paused && !is_final);
        let expected_end = going.and_then(|per_hour| end(remaining, per_hour, now));
        // Nobody is faster than the windows.
        let expected_end = expected_end.map(|end| last_window.map_or(end, |last| last.max(end)));
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

/// How many have succeeded.
fn succeeded(counts: &Counts) -> u64 {
    let succeeded = counts.0.iter().filter(|count| count.state == "succeeded");
    succeeded.map(|count| count.number.unsigned_abs()).sum()
}

/// How many ended in an hour. Only the time counts in which something ran: not pauses, nor the time before a retry. What failed at once says
/// nothing about the others.
fn rate(spans: &[Span], has_succeeded: bool, now: Timestamp) -> Option<f64> {
    let (mut busy, mut until) = (SignedDuration::ZERO, None);
    for span in spans {
        let from = until.map_or(span.began, |until: Timestamp| until.max(span.began));
        let end = span.ended.unwrap_or(now).max(from);
        busy += end.duration_since(from);
        until = Some(end);
    }
    let ended = spans.iter().filter(|span| span.ended.is_some()).count();
    let (hours, ended) = (busy.as_secs_f64() / 3600.0, f64::from(u32::try_from(ended).ok()?));
    (hours > 0.0 && (has_succeeded || busy >= TELLING)).then_some(ended / hours)
}

/// When so many will have ended.
fn end(remaining: u64, per_hour: f64, now: Timestamp) -> Option<Timestamp> {
    let hours = f64::from(u32::try_from(remaining).ok()?) / per_hour;
    now.checked_add(SignedDuration::try_from_secs_f64(hours * 3600.0).ok()?).ok()
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

#[cfg(test)]
mod tests {
    use base::Failure;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn member(number: u128) -> Member {
        Member {
            operation: Uuid::from_u128(number),
            orchestration: Uuid::nil(),
            position: 0,
            wave: 1,
            instance: format!("i-{number}"),
            runtime_id: Uuid::nil(),
            shoot_name: format!("c-{number}"),
            global_account: String::new(),
            subaccount: String::new(),
            plan_id: String::new(),
            plan_name: String::new(),
            window_rule: None,
            window_begin: None,
            window_end: None,
            state: "in progress".into(),
            description: format!("at {number}"),
            accepted: true,
            superseded: false,
            started_at: None,
            ended_at: None,
            failure: None,
        }
    }

    #[test]
    fn only_the_time_counts_in_which_something_ran() {
        let at = |minute: i64| Timestamp::from_second(1_767_268_800 + 60 * minute).unwrap();
        let span = |began, ended: Option<i64>| Span { began: at(began), ended: ended.map(&at) };
        let is = |spans: &[Span], now, expected: Option<f64>| {
            assert_eq!(rate(spans, true, at(now)), expected, "{spans:?}");
        };

        is(&[], 60, None);
        is(&[span(0, None)], 60, Some(0.0));
        // Two at a time in half an hour.
        let first = [span(0, Some(30)), span(0, Some(15)), span(15, Some(30))];
        is(&first, 30, Some(6.0));
        // Paused for a day, or retried after it.
        is(&first, 24 * 60, Some(6.0));
        is(&[&first[..], &[span(24 * 60, None)]].concat(), 24 * 60 + 30, Some(3.0));
    }

    #[test]
    fn what_fails_at_once_tells_no_rate_before_a_minute_has_passed_or_one_has_succeeded() {
        let failed_at_once = Span { began: at(0), ended: Some(at(1)) };
        let running = Span { began: at(1), ended: None };

        assert_eq!(rate(&[failed_at_once], false, at(90)), None);
        assert_eq!(rate(&[failed_at_once, running], false, at(59)), None);
        assert_eq!(rate(&[failed_at_once, running], false, at(60)), Some(60.0));
        assert_eq!(rate(&[failed_at_once], true, at(1)), Some(3600.0));
    }

    #[test]
    fn those_that_run_for_longest_come_first() {
        let begun =
            |number: u128, second| Member { started_at: Some(at(second)), ..member(number) };
        let running = vec![
            begun(1, 60),
            begun(2, 10),
            member(3),
            begun(4, 50),
            begun(5, 40),
            begun(6, 30),
            begun(7, 20),
        ];

        let slow = slowest(running);

        let shown: Vec<&str> = slow.iter().map(|it| it.shoot_name.as_str()).collect();
        assert_eq!(shown, ["c-2", "c-7", "c-6", "c-5", "c-4"]);
        assert_eq!((slow[0].started_at, slow[0].description.as_str()), (at(10), "at 2"));
        assert_eq!(slow[0].operation_id, Uuid::from_u128(2));
    }

    #[test]
    fn failures_are_told_by_reason_the_most_frequent_first() {
        let failed = |number: u128, component: &str, reason: &str| Member {
            failure: Some(Failure::new(component.to_owned(), reason.to_owned(), "text")),
            ..member(number)
        };
        let mut all: Vec<Member> = (1..=7).map(|it| failed(it, "reconciler", "failed")).collect();
        all.insert(0, failed(20, "gardener", "quota"));
        all.push(failed(21, "reconciler", "timeout"));
        all.push(member(22));

        let told = failures(&all);

        let shown: Vec<_> = told
            .iter()
            .map(|it| (it.component.as_str(), it.reason.as_str(), it.count, it.operations.len()))
            .collect();
        assert_eq!(shown[0], ("reconciler", "failed", 7, SHOWN));
        assert_eq!(shown.len(), 4, "{shown:?}");
        assert_eq!(told[0].message, "at 1", "what the first of them said");
        assert_eq!(told[0].operations[0], Uuid::from_u128(1));
    }
}
