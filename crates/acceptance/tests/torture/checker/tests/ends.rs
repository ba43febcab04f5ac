//! Invented histories: limits, ends and journals.

use engine::{
    State,
    storage::{Entry, EntryEvent, Outcome, Snapshot},
};
use uuid::Uuid;

use super::{
    super::{
        check,
        invented::{InventedHistory, SECOND, entry, moment},
    },
    broken,
};

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
