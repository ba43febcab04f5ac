//! The rows of the simulated database, and what a transaction does to them.

use std::collections::BTreeMap;

use base::Failure;
use jiff::Timestamp;

use super::Faults;
use crate::{
    planted::PlantedBug,
    position::{Position, State},
    storage::{
        AfterCommit, Cancel, Commit, CommitResult, Entry, EntryEvent, HeldOperation, OperationId,
        Outcome, ReplicaId, Skip, Snapshot, Unfinished,
    },
};

pub(super) struct World {
    pub(super) random: fastrand::Rng,
    pub(super) faults: Faults,
    pub(super) replicas: BTreeMap<ReplicaId, Replica>,
    pub(super) operations: BTreeMap<OperationId, Row>,
    pub(super) arrivals: u64,
    pub(super) calls: u64,
    /// Rows written through changes, for tests of "in the same commit".
    pub(super) changed: Vec<(OperationId, String, serde_json::Value)>,
    /// Commits that are still on their way.
    pub(super) late: Vec<(ReplicaId, Commit)>,
}

#[derive(Debug, Clone)]
pub(super) struct Replica {
    pub(super) name: String,
    pub(super) incarnation: i64,
    pub(super) lease_until: Timestamp,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) arrival: u64,
    pub(super) root: OperationId,
    pub(super) instance: String,
    pub(super) kind: String,
    pub(super) data_version: i32,
    pub(super) lane: String,
    pub(super) position: Position,
    pub(super) owner: Option<ReplicaId>,
    pub(super) epoch: i64,
    pub(super) serial: i64,
    pub(super) runs: i64,
    pub(super) held: bool,
    pub(super) due_at: Option<Timestamp>,
    /// When the step of an operation that was abandoned is gone.
    pub(super) step_gone_at: Option<Timestamp>,
    pub(super) awaits: Option<String>,
    pub(super) cancel: Option<Cancel>,
    pub(super) skip: Option<Skip>,
    pub(super) digest: Option<Vec<u8>>,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) input: Vec<u8>,
    pub(super) data: Vec<u8>,
    pub(super) journal: Vec<Entry>,
}

impl World {
    pub(super) fn loses_the_answer(&mut self) -> bool {
        let lost = self.faults.answer_lost;
        self.random.f64() < lost
    }

    pub(super) fn lives(&self, replica: ReplicaId, now: Timestamp) -> bool {
        self.replicas.get(&replica).is_some_and(|replica| replica.lease_until > now)
    }

    pub(super) fn request_cancel(
        &mut self,
        id: OperationId,
        cancel: &Cancel,
        now: Timestamp,
        overwrite: bool,
    ) -> bool {
        let Some(row) = self.operations.get_mut(&id) else { return false };
        if row.position.state.is_final() && !overwrite {
            return false;
        }
        if row.cancel.is_none() {
            row.cancel = Some(cancel.clone());
            if row.due_at.is_none() {
                row.position.state = cancel.state;
                row.position.ended_at = Some(now);
                row.position.note = Some(cancel.reason.clone());
            } else if !row.held {
                row.due_at = row.due_at.map(|due| due.min(now));
            }
            row.record(EntryEvent::CancelRequested, now, Some(cancel.reason.clone()));
        }
        true
    }

    pub(super) fn request_skip(&mut self, id: OperationId, skip: &Skip, now: Timestamp) -> bool {
        let Some(row) = self.operations.get_mut(&id) else { return false };
        let other_stage = row.position.stage.as_ref() != Some(&skip.stage);
        if row.position.state.is_final() || row.cancel.is_some() || other_stage {
            return false;
        }
        row.skip = Some(skip.after(row.skip.as_ref()));
        if !row.held {
            row.due_at = row.due_at.map(|due| due.min(now));
        }
        true
    }

    pub(super) fn abandon(&mut self, id: OperationId, failure: &Failure, now: Timestamp) -> bool {
        let Some(row) = self.operations.get_mut(&id) else { return false };
        if row.position.state.is_final() {
            return false;
        }
        let owner = row.owner.and_then(|owner| self.replicas.get(&owner));
        let gone = owner.map_or(now, |owner| owner.lease_until.max(now));
        let Position { stage, step, closed, incomplete, started_at, .. } = row.position.clone();
        row.position = Position {
            state: State::Failed,
            ended_at: Some(now),
            note: Some(failure.message.clone()),
            failure: Some(failure.clone()),
            started_at,
            incomplete,
            ..Position::beginning(closed)
        };
        row.step_gone_at = row.held.then_some(gone);
        (row.owner, row.held, row.due_at, row.awaits) = (None, false, None, None);
        row.epoch += 1;
        row.updated_at = now;
        let entry = Entry {
            stage,
            step,
            outcome: Some(Outcome::Ended),
            reason: Some(failure.message.clone()),
            failure: Some(failure.clone()),
            ..row.entry(EntryEvent::Run, now)
        };
        row.journal.push(entry);
        let instance = row.instance.clone();
        self.admit(&instance, now);
        true
    }

    /// When an operation of the instance that is admitted now may begin.
    pub(super) fn due(&self, instance: &str, now: Timestamp) -> Timestamp {
        let rows = self.operations.values().filter(|row| row.instance == instance);
        rows.filter_map(|row| row.step_gone_at).fold(now, Timestamp::max)
    }

    /// Lets the next operation of an instance run, if none does.
    pub(super) fn admit(&mut self, instance: &str, now: Timestamp) -> bool {
        let busy =
            self.operations.values().any(|row| row.instance == instance && row.is_admitted());
        let due = self.due(instance, now);
        let next = self
            .operations
            .values_mut()
            .filter(|row| row.instance == instance && !row.position.state.is_final())
            .filter(|row| row.due_at.is_none())
            .min_by_key(|row| row.arrival);
        match next {
            Some(row) if !busy => {
                row.due_at = Some(due);
                row.record(EntryEvent::Admitted, now, None);
                true
            }
            _ => false,
        }
    }

    pub(super) fn apply(
        &mut self,
        replica: ReplicaId,
        commit: &Commit,
        now: Timestamp,
        lease_now: Timestamp,
        planted: PlantedBug,
    ) -> CommitResult {
        let lives = self.lives(replica, lease_now);
        let Some(row) = self.operations.get_mut(&commit.id) else { return CommitResult::Fenced };
        let is_final = row.position.state.is_final() && !planted.is(PlantedBug::FinalOverwritten);
        let fenced = row.epoch != commit.epoch
            || row.serial != commit.serial
            || row.owner != Some(replica)
            || !row.held
            || !lives;
        if (fenced && !planted.is(PlantedBug::NoFence)) || is_final {
            return CommitResult::Fenced;
        }
        if let Some(change) = commit.changes.iter().find(|change| change.topic == "refuse") {
            return CommitResult::Rejected(format!("\"{}\" is refused", change.topic));
        }
        row.serial += 1;
        row.position = commit.position.clone();
        row.updated_at = now;
        if let Some(data) = &commit.data {
            row.data.clone_from(data);
            row.data_version = commit.data_version;
        }
        match &commit.then {
            AfterCommit::Hold => {}
            AfterCommit::Sleep { until, awaits } => {
                row.held = false;
                row.due_at = Some(*until);
                row.awaits.clone_from(awaits);
            }
            AfterCommit::End => {
                row.held = false;
                row.due_at = None;
                row.awaits = None;
            }
        }
        row.record_run(commit, replica, now);
        let (cancel, instance) = (row.cancel.clone(), row.instance.clone());
        let journal = i64::try_from(row.journal.len()).unwrap_or(i64::MAX);
        for change in &commit.changes {
            self.changed.push((commit.id, change.topic.clone(), change.body.clone()));
        }
        if commit.then == AfterCommit::End && !planted.is(PlantedBug::PendingForgotten) {
            self.admit(&instance, now);
        }
        CommitResult::Yes { journal, cancel }
    }
}

impl Row {
    pub(super) fn is_admitted(&self) -> bool {
        self.due_at.is_some()
    }

    pub(super) fn unfinished(&self, id: OperationId) -> Unfinished {
        Unfinished {
            id,
            kind: self.kind.clone(),
            state: self.position.state,
            admitted: self.is_admitted(),
            digest: self.digest.clone(),
            canceling: self.cancel.is_some(),
        }
    }

    pub(super) fn entry(&self, event: EntryEvent, now: Timestamp) -> Entry {
        Entry {
            seq: i64::try_from(self.journal.len()).unwrap_or(i64::MAX) + 1,
            event,
            stage: None,
            step: None,
            run: None,
            times: 1,
            epoch: self.epoch,
            replica: self.owner,
            began_at: now,
            ended_at: now,
            outcome: None,
            reason: None,
            failure: None,
            next_at: None,
            state: self.position.state,
            then_stage: self.position.stage.clone(),
            then_step: self.position.step.clone(),
        }
    }

    pub(super) fn record(&mut self, event: EntryEvent, now: Timestamp, reason: Option<String>) {
        let entry = Entry { reason, ..self.entry(event, now) };
        self.journal.push(entry);
    }

    pub(super) fn record_run(&mut self, commit: &Commit, replica: ReplicaId, now: Timestamp) {
        let Some(run) = &commit.run else { return };
        self.runs = run.number;
        let newest = i64::try_from(self.journal.len()).unwrap_or(i64::MAX);
        if run.repeats == Some(newest)
            && let Some(entry) = self.journal.last_mut()
        {
            entry.times += 1;
            entry.run = Some(run.number);
            entry.ended_at = run.ended_at;
            entry.next_at = run.next_at;
            entry.reason.clone_from(&run.reason);
            entry.epoch = commit.epoch;
            return;
        }
        let entry = Entry {
            stage: Some(run.stage.clone()),
            step: Some(run.step.clone()),
            run: Some(run.number),
            epoch: commit.epoch,
            replica: Some(replica),
            began_at: run.began_at,
            ended_at: run.ended_at,
            outcome: Some(run.outcome),
            reason: run.reason.clone(),
            failure: run.failure.clone(),
            next_at: run.next_at,
            ..self.entry(EntryEvent::Run, now)
        };
        self.journal.push(entry);
    }

    pub(super) fn snapshot(&self, id: OperationId) -> Snapshot {
        let clock =
            self.position.step.as_deref().map(|step| self.position.clock(step)).unwrap_or_default();
        Snapshot {
            id,
            root: self.root,
            instance: self.instance.clone(),
            kind: self.kind.clone(),
            data_version: self.data_version,
            lane: self.lane.clone(),
            state: self.position.state,
            stage: self.position.stage.clone(),
            step: self.position.step.clone(),
            closed: self.position.closed.clone(),
            incomplete: self.position.incomplete.clone(),
            failing_since: clock.failing_since,
            waiting_since: clock.waiting_since,
            note: self.position.note.clone(),
            failure: self.position.failure.clone(),
            owner: self.owner,
            epoch: self.epoch,
            held: self.held,
            runs: self.runs,
            due_at: self.due_at,
            cancel: self.cancel.clone(),
            skip: self.skip.clone(),
            created_at: self.created_at,
            started_at: self.position.started_at,
            updated_at: self.updated_at,
            ended_at: self.position.ended_at,
            input: self.input.clone(),
            data: self.data.clone(),
        }
    }

    pub(super) fn held(&self, id: OperationId) -> HeldOperation {
        HeldOperation {
            id,
            root: self.root,
            instance: self.instance.clone(),
            kind: self.kind.clone(),
            data_version: self.data_version,
            lane: self.lane.clone(),
            epoch: self.epoch,
            serial: self.serial,
            runs: self.runs,
            journal: i64::try_from(self.journal.len()).unwrap_or(i64::MAX),
            position: self.position.clone(),
            cancel: self.cancel.clone(),
            skip: self.skip.clone(),
            due_at: self.due_at.unwrap_or(self.created_at),
            created_at: self.created_at,
            input: self.input.clone(),
            data: self.data.clone(),
        }
    }
}
