//! Invented histories: writes and calls that nobody should have made.

use engine::State;
use uuid::Uuid;

use super::{
    super::{
        Pause, check,
        invented::{InventedHistory, SECOND, moment},
    },
    broken,
};
use crate::ledger::{CallEvent, Event, OperationReading};

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
fn p20_a_call_after_the_end_is_found() {
    let mut bad = InventedHistory::good();
    bad.call_again("Clean", 6, 1, 30 * SECOND);

    assert_eq!(broken(&bad), [20]);
}
