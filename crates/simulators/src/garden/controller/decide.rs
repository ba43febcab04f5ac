//! Pure: a Shoot and a clock reading in, the next move out.
//!
//! Everything is read from the Shoot; nothing is remembered. So it does not matter who made the move
//! before, nor whether it was made before a crash.

use std::time::Duration;

use jiff::Timestamp;

use super::super::{
    OPERATION, TASKS,
    conditions::{Health, word},
    flow,
    scenario::{Scenario, Trouble},
    settings::Settings,
    shoot::{Operation, Shoot, State},
};

/// What is retried is not retried more often, however fast the world is.
const LEAST: Duration = Duration::from_secs(1);
/// Slow operations take this much longer.
const SLOW: u32 = 5;

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Find a seed.
    Schedule,
    /// Say that there is none.
    Unschedulable,
    /// Put our finalizer on it.
    Adopt,
    /// Begin an operation.
    Begin(Operation),
    /// Reach a milestone.
    Advance(Operation, i64, &'static str),
    /// Fail, to be retried or not.
    Fail(Operation, Trouble, State),
    /// Give it its domain.
    Domain,
    /// Announce the addresses of its API server.
    Announce,
    /// Say how it is.
    Care(Health),
    /// Say how it is in a word.
    Label(&'static str),
    /// Delete it from outside, without confirmation.
    Disappear,
    /// Take our finalizer away.
    LetGo,
}

/// What to do, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    /// After how long at the watchable speed.
    pub(super) after: Duration,
    /// Never sooner than this.
    pub(super) least: Duration,
    /// The action.
    pub(super) act: Act,
}

/// What there is to know besides the Shoot.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) settings: &'a Settings,
    /// Whether the world is without delays; then the short way is taken.
    pub(super) at_once: bool,
    pub(super) now: Timestamp,
}

fn now(act: Act) -> Option<Move> {
    after(Duration::ZERO, act)
}

#[expect(clippy::unnecessary_wraps, reason = "callers answer with a move or none")]
fn after(after: Duration, act: Act) -> Option<Move> {
    Some(Move { after, least: Duration::ZERO, act })
}

#[expect(clippy::unnecessary_wraps, reason = "callers answer with a move or none")]
fn no_sooner(after: Duration, act: Act) -> Option<Move> {
    Some(Move { after, least: LEAST, act })
}

/// The next move, if there is one.
pub(super) fn decide(shoot: Shoot<'_>, view: View<'_>) -> Option<Move> {
    let scenario = shoot.scenario();
    let next = if shoot.is_going() {
        going(shoot, &scenario, view)
    } else {
        staying(shoot, &scenario, view)
    };
    next.map(|mut next| {
        if scenario.slow {
            next.after *= SLOW;
        }
        next
    })
}

fn going(shoot: Shoot<'_>, scenario: &Scenario, view: View<'_>) -> Option<Move> {
    if !shoot.is_ours() {
        return None;
    }
    let durations = &view.settings.durations;
    match shoot.last() {
        Some((Operation::Delete, State::Succeeded, _)) => now(Act::LetGo),
        Some((Operation::Delete, State::Processing, progress)) => {
            let stretch = flow::stretch(Operation::Delete, durations);
            let (percent, description) = flow::after(Operation::Delete, progress, view.at_once);
            if scenario.stuck_delete && percent > 30 {
                let code = "ERR_CLEANUP_CLUSTER_RESOURCES".to_owned();
                let trouble = Trouble { code, at: progress.max(30) };
                return after(stretch, Act::Fail(Operation::Delete, trouble, State::Error));
            }
            after(stretch, Act::Advance(Operation::Delete, percent, description))
        }
        Some((Operation::Delete, State::Error, _)) => {
            no_sooner(durations.retry, Act::Begin(Operation::Delete))
        }
        Some((Operation::Delete, State::Failed, _)) if !is_asked_again(shoot) => None,
        _ => now(Act::Begin(Operation::Delete)),
    }
}

fn staying(shoot: Shoot<'_>, scenario: &Scenario, view: View<'_>) -> Option<Move> {
    let durations = &view.settings.durations;
    if let Some((operation, State::Processing, progress)) = shoot.last()
        && let Some(at) = scenario.disappear
        && flow::after(operation, progress, view.at_once).0 >= at
    {
        return after(flow::stretch(operation, durations), Act::Disappear);
    }
    if shoot.text("/spec/seedName").is_none() {
        return match (scenario.no_seed, shoot.last()) {
            (true, Some((_, State::Pending, _))) => label(shoot),
            (true, _) => after(durations.schedule, Act::Unschedulable),
            (false, None) => after(durations.schedule, Act::Schedule),
            (false, Some(_)) => no_sooner(durations.retry, Act::Schedule),
        };
    }
    if !shoot.is_ours() {
        return now(Act::Adopt);
    }
    match shoot.last() {
        None | Some((_, State::Pending, _)) => {
            after(durations.schedule, Act::Begin(Operation::Create))
        }
        Some((operation, State::Processing, progress)) => {
            processing(shoot, scenario, view, operation, progress)
        }
        Some((_, State::Error | State::Failed, _)) if is_asked_again(shoot) => {
            now(Act::Begin(shoot.next_operation()))
        }
        Some((_, State::Error, _)) => {
            label(shoot).or_else(|| no_sooner(durations.retry, Act::Begin(shoot.next_operation())))
        }
        Some((_, State::Failed, _)) => label(shoot),
        Some((_, State::Succeeded, _)) => settled(shoot, scenario, view),
    }
}

fn processing(
    shoot: Shoot<'_>,
    scenario: &Scenario,
    view: View<'_>,
    operation: Operation,
    progress: i64,
) -> Option<Move> {
    let durations = &view.settings.durations;
    if !view.at_once
        && let Some(next) = label(shoot)
    {
        return Some(next);
    }
    if shoot.text("/spec/dns/domain").is_none() && progress >= flow::ADDRESSES {
        return after(durations.late, Act::Domain);
    }
    let stretch = flow::stretch(operation, durations);
    let (percent, description) = flow::after(operation, progress, view.at_once);
    let met = |trouble: &Trouble| percent >= trouble.at;
    let at = |trouble: &Trouble| Trouble { at: trouble.at.max(progress), ..trouble.clone() };
    if let Some(trouble) = scenario.fail.as_ref().filter(|trouble| met(trouble)) {
        let state = verdict(shoot, &trouble.code, view);
        return after(stretch, Act::Fail(operation, at(trouble), state));
    }
    // What has failed in this operation stands in its errors until it succeeds.
    let first = !shoot.has_errors();
    if let Some(trouble) = scenario.recover.as_ref().filter(|trouble| first && met(trouble)) {
        return after(stretch, Act::Fail(operation, at(trouble), State::Error));
    }
    after(stretch, Act::Advance(operation, percent, description))
}

/// Whether a failure is final: by its code, or because it was retried for long enough.
pub(super) fn verdict(shoot: Shoot<'_>, code: &str, view: View<'_>) -> State {
    let retried = matches!(
        code,
        "" | "ERR_RETRYABLE_INFRA_DEPENDENCIES"
            | "ERR_INFRA_RESOURCES_DEPLETED"
            | "ERR_CLEANUP_CLUSTER_RESOURCES"
            | "ERR_RETRYABLE_CONFIGURATION_PROBLEM"
    );
    let since = shoot.text("/status/retryCycleStartTime");
    let since = since.and_then(|since| since.parse::<Timestamp>().ok()).unwrap_or(view.now);
    let over = since + view.settings.durations.retry_for < view.now;
    if retried && !over { State::Error } else { State::Failed }
}

fn settled(shoot: Shoot<'_>, scenario: &Scenario, view: View<'_>) -> Option<Move> {
    let durations = &view.settings.durations;
    if is_asked_again(shoot) {
        return now(Act::Begin(shoot.next_operation()));
    }
    if !shoot.has_addresses() {
        return after(durations.late, Act::Announce);
    }
    if let Some(next) = label(shoot) {
        return Some(next);
    }
    match Health::of(shoot) {
        Some(Health::True) if scenario.flapping => {
            no_sooner(durations.late, Act::Care(Health::False))
        }
        Some(Health::False) if scenario.flapping => {
            no_sooner(durations.late, Act::Care(Health::True))
        }
        Some(Health::True) if is_blocked(shoot) != scenario.hibernation_impossible => {
            now(Act::Care(Health::True))
        }
        Some(Health::True) => resync(shoot, view),
        _ => after(durations.care, Act::Care(Health::True)),
    }
}

fn resync(shoot: Shoot<'_>, view: View<'_>) -> Option<Move> {
    let last = shoot.text("/status/lastOperation/lastUpdateTime")?.parse::<Timestamp>().ok()?;
    let left = (last + view.settings.durations.resync).duration_since(view.now);
    let least = Duration::try_from(left).unwrap_or_default();
    Some(Move { after: Duration::ZERO, least, act: Act::Begin(Operation::Reconcile) })
}

fn label(shoot: Shoot<'_>) -> Option<Move> {
    let wanted = word(shoot).filter(|wanted| shoot.label() != Some(*wanted) || has_done(shoot))?;
    now(Act::Label(wanted))
}

/// Whether the tasks of a Shoot are done, and still stand there.
pub(super) fn has_done(shoot: Shoot<'_>) -> bool {
    let over = matches!(shoot.last(), Some((_, State::Succeeded, _)));
    let settled = word(shoot) != Some("progressing");
    over && settled && !shoot.is_changed() && shoot.annotation(TASKS).is_some()
}

fn is_blocked(shoot: Shoot<'_>) -> bool {
    let mut constraints = shoot.list("/status/constraints").iter();
    constraints.any(|one| one["type"] == "HibernationPossible" && one["status"] == "False")
}

/// Whether another go is wanted. Where admission is Gardener's, the annotation has become a generation.
fn is_asked_again(shoot: Shoot<'_>) -> bool {
    let state = shoot.last().map(|(_, state, _)| state);
    let annotated = match shoot.annotation(OPERATION) {
        Some("retry") => state == Some(State::Failed),
        Some("reconcile") => state != Some(State::Failed),
        Some("maintain") => state == Some(State::Succeeded),
        _ => false,
    };
    shoot.is_changed() || annotated
}

#[cfg(test)]
mod tests {
    use kube::api::DynamicObject;
    use serde_json::{Value, json};

    use super::*;

    fn next(object: &Value, at_once: bool) -> Option<Act> {
        let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        let settings = Settings::default();
        let now = "2026-01-02T00:00:00Z".parse().unwrap();
        decide(Shoot(&object), View { settings: &settings, at_once, now }).map(|next| next.act)
    }

    fn at(kind: &str, state: &str, progress: i64) -> Value {
        json!({
            "metadata": {"name": "s", "generation": 2, "finalizers": ["gardener"],
                "labels": {"shoot.gardener.cloud/status": "progressing"}},
            "spec": {"seedName": "seed", "dns": {"domain": "d"}},
            "status": {"observedGeneration": 2, "retryCycleStartTime": "2026-01-01T23:00:00Z",
                "lastOperation": {"type": kind, "state": state, "progress": progress}},
        })
    }

    #[test]
    fn the_shoot_alone_says_what_comes_next() {
        let fresh = json!({"metadata": {"name": "s"}, "spec": {}});
        let mut going = at("Create", "Processing", 45);
        going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        let mut changed = at("Reconcile", "Failed", 45);
        changed["metadata"]["generation"] = json!(3);

        assert_eq!(next(&fresh, false), Some(Act::Schedule));
        let advance = next(&at("Create", "Processing", 45), false);
        assert!(matches!(advance, Some(Act::Advance(Operation::Create, 60, _))), "{advance:?}");
        let at_once = next(&at("Create", "Processing", 45), true);
        assert!(matches!(at_once, Some(Act::Advance(Operation::Create, 100, _))), "{at_once:?}");
        assert_eq!(next(&going, false), Some(Act::Begin(Operation::Delete)));
        assert_eq!(next(&changed, false), Some(Act::Begin(Operation::Reconcile)));
    }

    #[test]
    fn a_healthy_shoot_is_reconciled_once_an_hour_however_fast_the_world_is() {
        let mut shoot = at("Create", "Succeeded", 100);
        shoot["metadata"]["labels"] = json!({"shoot.gardener.cloud/status": "healthy"});
        let status = &mut shoot["status"];
        status["conditions"] = json!([{"type": "EveryNodeReady", "status": "True"}]);
        status["advertisedAddresses"] = json!([{"name": "external", "url": "https://api.d"}]);
        status["lastOperation"]["lastUpdateTime"] = json!("2026-01-01T23:40:00Z");
        let object: DynamicObject = serde_json::from_value(shoot).unwrap();
        let settings = Settings::default();
        let now = "2026-01-02T00:00:00Z".parse().unwrap();

        let next = decide(Shoot(&object), View { settings: &settings, at_once: true, now });

        let expected = Move {
            after: Duration::ZERO,
            least: Duration::from_mins(40),
            act: Act::Begin(Operation::Reconcile),
        };
        assert_eq!(next, Some(expected));
    }

    #[test]
    fn a_failure_that_is_retried_becomes_final_after_half_a_day() {
        let mut shoot = at("Create", "Processing", 45);
        shoot["metadata"]["annotations"] =
            json!({"landscape.kcp.dev/scenario": "fail=ERR_INFRA_RESOURCES_DEPLETED@50"});
        let early = next(&shoot, false);
        shoot["status"]["retryCycleStartTime"] = json!("2026-01-01T11:59:00Z");

        let late = next(&shoot, false);

        assert!(matches!(early, Some(Act::Fail(_, _, State::Error))), "{early:?}");
        assert!(matches!(late, Some(Act::Fail(_, _, State::Failed))), "{late:?}");
    }
}
