//! Operations for tests.

use broker::operations::view::{Snapshot, State};
use jiff::Timestamp;
use uuid::Uuid;

/// So many seconds after the operations of tests were accepted.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_000 + seconds).unwrap()
}

/// An operation that waits at this step.
pub(crate) fn operation(step: &str) -> Snapshot {
    let id = Uuid::nil();
    Snapshot {
        id,
        root: id,
        instance: "i".into(),
        kind: "provision".into(),
        data_version: 1,
        lane: "ga".into(),
        state: State::InProgress,
        stage: Some("one".into()),
        step: Some(step.into()),
        closed: vec![],
        incomplete: vec![],
        failing_since: None,
        waiting_since: Some(at(0)),
        note: None,
        failure: None,
        runs: 0,
        owner: None,
        epoch: 1,
        held: false,
        due_at: Some(at(20)),
        cancel: None,
        skip: None,
        created_at: at(0),
        started_at: Some(at(0)),
        updated_at: at(0),
        ended_at: None,
        input: vec![],
        data: vec![],
    }
}
