//! Invented histories: a good one, and what is found when one thing in it is wrong.

use engine::{
    State,
    storage::{Acceptance, Entry, EntryEvent, Outcome, Snapshot},
};
use uuid::Uuid;

use super::{
    Pause, Violation, check,
    invented::{InventedHistory, SECOND, entry, moment},
};
use crate::{
    client::SentRequest,
    ledger::{CallEvent, Event, OperationReading},
};

/// The promises that a history breaks, each once, in order.
fn broken(invented: &InventedHistory) -> Vec<u8> {
    let mut promises: Vec<u8> = check(&invented.history)
        .violations
        .into_iter()
        .map(|Violation { promise, .. }| promise)
        .collect();
    promises.sort_unstable();
    promises.dedup();
    promises
}

#[test]
fn a_good_history_breaks_nothing() {
    let good = InventedHistory::good();

    assert_eq!(check(&good.history).violations, []);
}

#[test]
fn p01_an_accepted_operation_that_is_gone_is_found() {
    let mut bad = InventedHistory::good();
    let gone = bad.history.sent[0].clone();
    bad.history.sent.push(SentRequest {
        id: Uuid::from_u128(99),
        answers: vec![Acceptance::Started],
        ..gone
    });

    assert_eq!(broken(&bad), [1]);
}

#[test]
fn p01_an_operation_that_never_ends_is_found() {
    let mut bad = InventedHistory::good();
    bad.journal().pop();
    bad.row(|row| {
        row.state = State::InProgress;
        row.stage = Some("clean".into());
        row.step = Some("Clean".into());
        row.closed.pop();
        row.ended_at = None;
        row.runs -= 1;
    });

    assert_eq!(broken(&bad), [1]);
}

#[test]
fn p03_a_request_that_became_two_operations_is_found() {
    let mut bad = InventedHistory::good();
    let second = bad.add_poison(Uuid::from_u128(2), "elsewhere", 30);
    let request = bad.history.sent[0].request;
    bad.history.sent.iter_mut().find(|sent| sent.id == second).unwrap().request = request;
    bad.row(|row| row.ended_at = Some(moment(40 * SECOND)));

    assert_eq!(broken(&bad), [3]);
}

#[test]
fn p03_a_request_that_was_new_twice_is_found() {
    let mut bad = InventedHistory::good();
    bad.history.sent[0].answers.push(Acceptance::Started);

    assert_eq!(broken(&bad), [3]);
}

#[test]
fn p04_two_operations_of_an_instance_at_once_are_found() {
    let mut bad = InventedHistory::good();
    bad.add_poison(Uuid::from_u128(2), "instance", 1);

    assert_eq!(broken(&bad), [4]);
}

#[test]
fn p04_operations_of_an_instance_in_a_row_are_fine() {
    let mut good = InventedHistory::good();
    good.add_poison(Uuid::from_u128(2), "instance", 30);

    assert_eq!(check(&good.history).violations, []);
}

#[test]
fn p05_an_epoch_with_two_owners_is_found() {
    let mut bad = InventedHistory::good();
    bad.call(|request| request.replica = Uuid::from_u128(77));

    assert_eq!(broken(&bad), [5]);
}

#[test]
fn p05_epochs_that_go_back_are_found() {
    let mut bad = InventedHistory::good();
    bad.journal()[4].epoch = 0;

    assert!(broken(&bad).contains(&5));
}

#[test]
fn p06_a_write_of_somebody_else_is_found() {
    let mut bad = InventedHistory::good();
    bad.journal().last_mut().unwrap().replica = Some(Uuid::from_u128(77));

    assert_eq!(broken(&bad), [6]);
}

#[test]
fn p06_a_call_after_the_takeover_is_found_unless_it_was_in_flight_at_a_pause() {
    let mut bad = InventedHistory::good();
    bad.take_over(5 * SECOND);
    bad.call_again("Stuck", 3, 1, 6 * SECOND);
    let found = check(&bad.history);
    bad.history.pauses.push(Pause { process: "process-1".into(), until: moment(6 * SECOND) });

    assert_eq!(found.violations.iter().map(|v| v.promise).collect::<Vec<_>>(), [6]);
    assert_eq!(check(&bad.history).violations, []);

    for _ in 0..2 {
        bad.call_again("Stuck", 3, 1, 6 * SECOND);
    }
    assert_eq!(broken(&bad), [6], "no more than two of them can have been in flight");
}

#[test]
fn p07_a_call_for_a_closed_stage_is_found() {
    let mut bad = InventedHistory::good();
    bad.call_again("Stuck", 5, 1, 10 * SECOND);

    assert_eq!(broken(&bad), [7]);
}

#[test]
fn p08_a_thing_that_was_made_twice_is_found() {
    let mut bad = InventedHistory::good();
    let at = bad.history.events.iter().position(|event| event.what == CallEvent::Applied).unwrap();
    let seq = bad.history.events.len() as u64 + 1;
    let again = Event { seq, ..bad.history.events[at].clone() };
    let received = bad.history.events[at - 1].clone();
    assert!(matches!(received.what, CallEvent::Received(_)));
    bad.history.events.push(Event { seq, call: 900, ..received });
    bad.history.events.push(Event { seq: seq + 1, call: 900, ..again });

    assert!(broken(&bad).contains(&8));
}

#[test]
fn p09_a_call_whose_run_before_was_never_committed_is_found() {
    let mut bad = InventedHistory::good();
    bad.call_again("Clean", 7, 1, 11 * SECOND);

    assert_eq!(broken(&bad), [9]);
}

#[test]
fn p09_a_call_while_the_database_still_says_the_step_before_is_found() {
    let mut bad = InventedHistory::good();
    let replica = bad.replica;
    let at = bad.last_received("Clean");
    let seen = OperationReading {
        epoch: 1,
        owner: Some(replica),
        state: State::Pending,
        closed: Vec::new(),
        stage: Some("give_up".into()),
        step: Some("Stuck".into()),
    };
    bad.insert(at + 1, CallEvent::Saw(seen));

    assert_eq!(broken(&bad), [9]);
}

#[test]
fn p11_a_limit_that_fires_early_or_late_is_found() {
    for ends in [3, 25] {
        let mut bad = InventedHistory::good();
        let given_up = &mut bad.journal()[3];
        assert_eq!(given_up.outcome, Some(Outcome::GivenUp));
        given_up.ended_at = moment(ends * SECOND);

        assert_eq!(broken(&bad), [11], "{ends} s");
    }
}

#[test]
fn p11_a_limit_may_fire_as_late_as_the_database_was_away() {
    let mut good = InventedHistory::good();
    good.journal()[3].ended_at = moment(15 * SECOND);
    good.history.outages.push((moment(8 * SECOND), moment(14 * SECOND)));

    assert_eq!(check(&good.history).violations, []);
}

#[test]
fn p11_a_limit_may_fire_later_for_every_owner_that_died() {
    let mut good = InventedHistory::good();
    good.take_over(13 * SECOND);
    good.journal()[4].ended_at = moment(14 * SECOND);
    good.row(|row| row.ended_at = Some(moment(20 * SECOND)));

    assert_eq!(check(&good.history).violations, []);
}

#[test]
fn p13_a_panic_that_did_not_fail_its_operation_is_found() {
    let mut bad = InventedHistory::good();
    let poison = bad.add_poison(Uuid::from_u128(2), "elsewhere", 30);
    bad.history.journals.get_mut(&poison).unwrap().last_mut().unwrap().state = State::Succeeded;
    let row = bad.history.rows.iter_mut().find(|row| row.id == poison).unwrap();
    row.state = State::Succeeded;

    assert_eq!(broken(&bad), [13]);
}

#[test]
fn p20_an_entry_after_the_end_is_found() {
    let mut bad = InventedHistory::good();
    let last = bad.journal().last().unwrap().clone();
    let late = entry(last.seq + 1, EntryEvent::CancelRequested, last.state, 20 * SECOND);
    bad.journal().push(Entry { epoch: last.epoch, ..late });

    assert_eq!(broken(&bad), [20]);
}

#[test]
fn p20_a_final_operation_that_changed_is_found() {
    let mut bad = InventedHistory::good();
    let then = Snapshot { state: State::Failed, ..bad.history.rows[0].clone() };
    bad.history.finals.insert(then.id, then);

    assert_eq!(broken(&bad), [20]);
}

#[test]
fn p20_a_call_after_the_end_is_found() {
    let mut bad = InventedHistory::good();
    bad.call_again("Clean", 6, 1, 30 * SECOND);

    assert_eq!(broken(&bad), [20]);
}

#[test]
fn p21_a_journal_that_does_not_yield_its_row_is_found() {
    type Change = fn(&mut Snapshot);
    let changes: [Change; 5] = [
        |row| row.epoch += 1,
        |row| row.owner = None,
        |row| row.runs += 1,
        |row| drop(row.closed.pop()),
        |row| row.step = Some("Clean".into()),
    ];
    for change in changes {
        let mut bad = InventedHistory::good();
        bad.row(change);

        assert_eq!(broken(&bad), [21]);
    }
}

#[test]
fn p21_a_missing_entry_is_found() {
    let mut bad = InventedHistory::good();
    bad.journal().remove(2);

    assert!(broken(&bad).contains(&21));
}

#[test]
fn a_record_with_a_gap_proves_nothing() {
    let mut bad = InventedHistory::good();
    bad.history.events.remove(3);

    assert!(!broken(&bad).is_empty());
}
