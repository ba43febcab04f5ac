//! A small good history, to be spoilt: one operation that gives up its first step and ends well.

use std::time::Duration;

use engine::{
    OperationId, ReplicaId, State,
    storage::{Acceptance, Entry, EntryEvent, Outcome, Snapshot},
};
use jiff::Timestamp;
use kcp_acceptance::torture::wire::{Act, Request};
use uuid::Uuid;

use super::History;
use crate::{
    client::SentRequest,
    ledger::{CallEvent, Event},
};

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// The time at this distance after noon.
pub(super) fn moment(after: Duration) -> Timestamp {
    let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    noon + after
}

/// An entry that is no run.
pub(super) fn entry(seq: i64, event: EntryEvent, state: State, at: Duration) -> Entry {
    Entry {
        seq,
        event,
        stage: None,
        step: None,
        run: None,
        times: 1,
        epoch: 0,
        replica: None,
        began_at: moment(at),
        ended_at: moment(at),
        outcome: None,
        reason: None,
        failure: None,
        next_at: None,
        state,
        then_stage: None,
        then_step: None,
    }
}

pub(super) struct InventedHistory {
    pub(super) history: History,
    pub(super) id: OperationId,
    pub(super) replica: ReplicaId,
}

impl InventedHistory {
    /// Accepted at 0 s, three waits from 1 s on, given up at 8 s, done at 9 s; two things made.
    pub(super) fn good() -> Self {
        let (id, replica) = (Uuid::from_u128(1), Uuid::from_u128(50));
        let mut good = Self { history: History::default(), id, replica };
        good.history.rows.push(row(id, "instance", "remove", replica));
        let run = |seq, step: &str, number, outcome| Entry {
            stage: Some(if step == "Stuck" { "give_up" } else { "clean" }.into()),
            step: Some(step.into()),
            run: Some(number),
            epoch: 1,
            replica: Some(replica),
            outcome: Some(outcome),
            ..entry(seq, EntryEvent::Run, State::InProgress, SECOND)
        };
        let at = |stage: &str, step: &str, entry: Entry| Entry {
            then_stage: Some(stage.into()),
            then_step: Some(step.into()),
            ..entry
        };
        let taken = Entry {
            epoch: 1,
            replica: Some(replica),
            ..entry(2, EntryEvent::Taken, State::Pending, SECOND / 2)
        };
        let waits = Entry { times: 3, state: State::Pending, ..run(3, "Stuck", 3, Outcome::Wait) };
        let given_up =
            Entry { ended_at: moment(8 * SECOND), ..run(4, "Stuck", 4, Outcome::GivenUp) };
        let done = Entry {
            state: State::Succeeded,
            ended_at: moment(9 * SECOND),
            ..run(5, "Clean", 5, Outcome::Done)
        };
        let accepted = entry(1, EntryEvent::Accepted, State::Pending, Duration::ZERO);
        let journal = vec![
            accepted,
            taken,
            at("give_up", "Stuck", waits),
            at("clean", "Clean", given_up),
            done,
        ];
        good.history.journals.insert(id, journal);
        good.make("Stuck", 1, SECOND);
        for run in 2..=4 {
            good.call_again("Stuck", run, 1, 2 * SECOND);
        }
        good.make("Clean", 5, 9 * SECOND);
        let answers = vec![Acceptance::Started, Acceptance::Same(id)];
        let request = Uuid::from_u128(1000);
        good.history.sent.push(SentRequest { id, request, kind: "remove", answers, failures: 0 });
        good
    }

    /// Adds an operation that panics, whose only call is recorded before or after everything else.
    pub(super) fn add_poison(&mut self, id: OperationId, instance: &str, second: u32) -> Uuid {
        let replica = self.replica;
        let mut row = row(id, instance, "poison", replica);
        row.state = State::Failed;
        row.runs = 1;
        row.closed = Vec::new();
        row.incomplete = Vec::new();
        row.created_at = moment(second * SECOND);
        row.ended_at = Some(moment((second + 2) * SECOND));
        self.history.rows.push(row);
        let taken = Entry {
            epoch: 1,
            replica: Some(replica),
            ..entry(2, EntryEvent::Taken, State::Pending, second * SECOND)
        };
        let run = Entry {
            stage: Some("only".into()),
            step: Some("Panics".into()),
            run: Some(1),
            epoch: 1,
            replica: Some(replica),
            outcome: Some(Outcome::Panic),
            ..entry(3, EntryEvent::Run, State::Failed, second * SECOND)
        };
        let accepted = entry(1, EntryEvent::Accepted, State::Pending, second * SECOND);
        self.history.journals.insert(id, vec![accepted, taken, run]);
        let request = request(id, replica, "Panics", 1, 1, second * SECOND);
        let place = if second < 9 { 4 } else { self.history.events.len() };
        self.put(place, [CallEvent::Received(Box::new(request)), CallEvent::Applied]);
        let kind = "poison";
        let sent =
            SentRequest { id, request: id, kind, answers: vec![Acceptance::Queued], failures: 0 };
        self.history.sent.push(sent);
        id
    }

    /// The operation is taken over by another replica before it gives up.
    pub(super) fn take_over(&mut self, at: Duration) {
        let replica = Uuid::from_u128(51);
        for entry in &mut self.journal()[3..] {
            entry.seq += 1;
            entry.epoch = 2;
            entry.replica = Some(replica);
        }
        let taken = Entry {
            epoch: 2,
            replica: Some(replica),
            ..entry(4, EntryEvent::Taken, State::Pending, at)
        };
        self.journal().insert(3, taken);
        self.row(|row| (row.epoch, row.owner) = (2, Some(replica)));
        for event in &mut self.history.events {
            if let CallEvent::Received(request) = &mut event.what
                && request.run > 3
            {
                (request.epoch, request.replica) = (2, replica);
                request.begun_at = request.begun_at.max(moment(at));
            }
        }
    }

    /// Appends a look of the first replica.
    pub(super) fn call_again(&mut self, step: &str, run: i64, epoch: i64, at: Duration) {
        let request = request(self.id, self.replica, step, run, epoch, at);
        // A call that was begun under an epoch arrives before those of the next one.
        let newer = self.history.events.iter().position(|event| match &event.what {
            CallEvent::Received(other) => other.epoch > epoch,
            _ => false,
        });
        let place = newer.unwrap_or(self.history.events.len());
        self.put(place, [CallEvent::Received(Box::new(request)), CallEvent::Looked(true)]);
    }

    fn make(&mut self, step: &str, run: i64, at: Duration) {
        let request = request(self.id, self.replica, step, run, 1, at);
        let place = self.history.events.len();
        self.put(place, [CallEvent::Received(Box::new(request)), CallEvent::Applied]);
    }

    /// Puts a new call into the record.
    fn put(&mut self, place: usize, whats: [CallEvent; 2]) {
        for (at, what) in (place..).zip(whats) {
            let event = Event { seq: 0, at: moment(Duration::ZERO), call: u64::MAX, what };
            self.history.events.insert(at, event);
        }
        self.number();
    }

    /// Adds something about the call whose event is just before this place.
    pub(super) fn insert(&mut self, place: usize, what: CallEvent) {
        let event = Event { what, ..self.history.events[place - 1].clone() };
        self.history.events.insert(place, event);
        self.number();
    }

    /// Numbers the record anew, calls in the order of their arrival.
    fn number(&mut self) {
        let received = |event: &&Event| matches!(event.what, CallEvent::Received(_));
        let order: Vec<u64> =
            self.history.events.iter().filter(received).map(|event| event.call).collect();
        for (seq, event) in (1..).zip(&mut self.history.events) {
            event.seq = seq;
            let number = order.iter().position(|call| *call == event.call);
            event.call = number.unwrap_or_default() as u64;
        }
    }

    pub(super) fn last_received(&self, step: &str) -> usize {
        let of_step = |event: &Event| match &event.what {
            CallEvent::Received(request) => request.step == step,
            _ => false,
        };
        self.history.events.iter().rposition(of_step).unwrap()
    }

    /// Changes the last call.
    pub(super) fn call(&mut self, change: impl FnOnce(&mut Request)) {
        let at = self.last_received("Clean");
        if let CallEvent::Received(request) = &mut self.history.events[at].what {
            change(request);
        }
    }

    pub(super) fn journal(&mut self) -> &mut Vec<Entry> {
        self.history.journals.get_mut(&self.id).unwrap()
    }

    pub(super) fn row(&mut self, change: impl FnOnce(&mut Snapshot)) {
        change(&mut self.history.rows[0]);
    }
}

fn request(
    operation: OperationId,
    replica: ReplicaId,
    step: &str,
    run: i64,
    epoch: i64,
    at: Duration,
) -> Request {
    Request {
        key: format!("{operation}/{step}/1"),
        operation,
        root: operation,
        step: step.into(),
        run,
        epoch,
        replica,
        process: "process-1".into(),
        begun_at: moment(at),
        act: Act::Look,
        thing: format!("{operation}/{step}"),
    }
}

fn row(id: OperationId, instance: &str, kind: &str, owner: ReplicaId) -> Snapshot {
    Snapshot {
        id,
        root: id,
        instance: instance.into(),
        kind: kind.into(),
        data_version: 1,
        lane: "tenant".into(),
        state: State::Succeeded,
        stage: None,
        step: None,
        closed: vec!["give_up".into(), "clean".into()],
        incomplete: vec!["give_up/Stuck".into()],
        failing_since: None,
        waiting_since: None,
        note: None,
        failure: None,
        owner: Some(owner),
        epoch: 1,
        held: false,
        runs: 5,
        due_at: None,
        cancel: None,
        skip: None,
        created_at: moment(Duration::ZERO),
        started_at: None,
        updated_at: moment(10 * SECOND),
        ended_at: Some(moment(12 * SECOND)),
        input: Vec::new(),
        data: Vec::new(),
    }
}
