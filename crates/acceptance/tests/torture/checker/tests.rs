//! Invented histories: acceptances, instances and epochs, and what is found when one of them is wrong.

mod calls;
mod ends;

use engine::{State, storage::Acceptance};
use uuid::Uuid;

use super::{
    Violation, check,
    invented::{InventedHistory, SECOND, moment},
};
use crate::client::SentRequest;

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
