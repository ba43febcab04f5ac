//! From a journal to what callers are told.

use base::Failure;
use engine::{
    State,
    storage::{Entry, EntryEvent, Outcome, Snapshot},
};
use jiff::Timestamp;
use uuid::Uuid;

use super::{MOST, Problems};

fn entry(outcome: Outcome, reason: Option<&str>, failure: Option<Failure>) -> Entry {
    Entry {
        seq: 1,
        event: EntryEvent::Run,
        stage: None,
        step: None,
        run: Some(1),
        times: 1,
        epoch: 1,
        replica: None,
        began_at: Timestamp::UNIX_EPOCH,
        ended_at: Timestamp::UNIX_EPOCH,
        outcome: Some(outcome),
        reason: reason.map(str::to_owned),
        failure,
        next_at: None,
        state: State::InProgress,
        then_stage: None,
        then_step: None,
    }
}

fn failed(component: &str, reason: &str, text: &str) -> Entry {
    entry(Outcome::Transient, None, Some(Failure::new(component, reason, text)))
}

pub(in crate::runtimes) fn snapshot(state: State, failure: Option<Failure>) -> Snapshot {
    Snapshot {
        id: Uuid::nil(),
        root: Uuid::nil(),
        instance: String::new(),
        kind: "provision".into(),
        data_version: 1,
        lane: String::new(),
        state,
        stage: None,
        step: None,
        closed: Vec::new(),
        incomplete: Vec::new(),
        failing_since: None,
        waiting_since: None,
        note: None,
        failure,
        owner: None,
        epoch: 1,
        held: false,
        runs: 1,
        due_at: None,
        cancel: None,
        skip: None,
        created_at: Timestamp::UNIX_EPOCH,
        started_at: None,
        updated_at: Timestamp::UNIX_EPOCH,
        ended_at: None,
        input: Vec::new(),
        data: Vec::new(),
    }
}

#[test]
fn all_errors_are_told_in_their_order_and_repeated_ones_once() {
    let journal = [
        failed("gardener", "unavailable", "first"),
        failed("gardener", "unavailable", "first"),
        entry(Outcome::Wait, Some("waiting"), None),
        failed("gardener", "paused", "was not called"),
        failed("director", "unavailable", "second"),
        failed("gardener", "unavailable", "first"),
    ];
    let snapshot = snapshot(State::InProgress, None);
    let problems = Problems { snapshot: &snapshot, journal: &journal };

    assert_eq!(problems.last(), None);
    assert_eq!(problems.all(None), ["first", "second", "first"]);
}

#[test]
fn the_newest_errors_are_told_when_there_are_too_many() {
    let journal: Vec<Entry> =
        (0..MOST + 5).map(|n| failed("gardener", "unavailable", &format!("no. {n}"))).collect();
    let snapshot = snapshot(State::InProgress, None);

    let all = Problems { snapshot: &snapshot, journal: &journal }.all(None);

    assert_eq!((all.len(), all[0].as_str()), (MOST, "no. 5"));
}

#[test]
fn a_call_that_was_not_made_does_not_hide_what_failed() {
    let paused = Failure::new("gardener", "paused", "gardener was not called");
    let journal =
        [failed("gardener", "unavailable", "503"), failed("gardener", "paused", "was not called")];
    let running = snapshot(State::InProgress, Some(paused.clone()));
    let ended = snapshot(State::Failed, Some(paused.clone()));

    let last = |snapshot| Problems { snapshot, journal: &journal }.last().unwrap();

    assert_eq!(
        (last(&running).message.as_str(), last(&running).reason.as_str()),
        ("503", "unavailable")
    );
    assert_eq!(last(&ended).message, "gardener was not called; what failed before: 503");
    let trimmed = Problems { snapshot: &running, journal: &[] };
    assert_eq!(trimmed.last().unwrap().message, paused.message);
    assert_eq!(trimmed.all(trimmed.last().as_ref()), [paused.message]);
}

#[test]
fn who_calls_off_abandons_and_skips_is_not_told() {
    let skipped = "step Trigger_Uninstall skipped: asked for by jo@example.test: it is gone";
    let abandoned = Failure::new("engine", "abandoned", "abandoned by jo@example.test: why");
    let journal = [
        failed("engine", "skipped", skipped),
        entry(Outcome::Ended, None, Some(abandoned.clone())),
    ];
    let ended = snapshot(State::Failed, Some(abandoned));
    let note = Some("called off by jo@example.test: why".to_owned());
    let canceled = Snapshot { note, ..snapshot(State::Canceled, None) };
    let note = Some("called off by deprovisioning 1".to_owned());
    let superseded = Snapshot { note, ..snapshot(State::Failed, None) };

    let problems = Problems { snapshot: &ended, journal: &journal };
    let last = problems.last();
    let end = |snapshot| Problems { snapshot, journal: &[] }.end(None);

    let all =
        ["step Trigger_Uninstall skipped: asked for by an operator", "abandoned by an operator"];
    assert_eq!(problems.all(last.as_ref()), all);
    assert_eq!(problems.end(last.as_ref()), all[1]);
    assert_eq!(last.unwrap().message, all[1]);
    assert_eq!(end(&canceled), "called off by an operator");
    assert_eq!(end(&superseded), "called off by deprovisioning 1");
}

#[test]
fn a_time_out_names_what_was_waited_for() {
    let text = "step Wait_For_Creation waited for 2h";
    let failure = Failure::new("engine", "waiting_limit", text);
    let journal = [
        entry(Outcome::Wait, Some("the cluster is being made: create 10 %"), None),
        entry(Outcome::Wait, Some(text), Some(failure.clone())),
    ];
    let snapshot = snapshot(State::Failed, Some(failure));

    let last = Problems { snapshot: &snapshot, journal: &journal }.last().unwrap();

    let expected = "error: timeout while processing operation: step Wait_For_Creation waited for 2h; \
                    at last: the cluster is being made: create 10 %";
    assert_eq!(
        (last.message.as_str(), last.reason.as_str()),
        (expected, "err_provisioner_timeout")
    );
}
