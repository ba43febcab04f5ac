//! Brings what one operation did into the store, and tells of it afterwards.

use std::sync::Arc;

use jiff::Timestamp;
use tracing::{info, warn};

use crate::{
    decide::{self, Move},
    drive::{DriveResult, Incarnation},
    events::Event,
    hooks::Point,
    memory::StageMemory,
    opened::{AnyPlan, Memory, OpenOperation, OperationNames},
    position::Position,
    saving::{SaveError, SaveRequest},
    storage::{AfterCommit, Cancel, Change, Commit, CommitResult, Outcome, Run, Skip},
    watch::WatchGuard,
};

/// One operation in hand.
pub(crate) struct OperationInHand {
    pub(crate) names: OperationNames,
    pub(crate) kind: String,
    pub(crate) plan: Arc<dyn AnyPlan>,
    pub(crate) opened: Option<Box<dyn OpenOperation>>,
    pub(crate) input: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) epoch: i64,
    pub(crate) serial: i64,
    pub(crate) runs: i64,
    pub(crate) journal: i64,
    pub(crate) position: Position,
    pub(crate) cancel: Option<Cancel>,
    pub(crate) skip: Option<Skip>,
    pub(crate) memory: Option<(Memory, Timestamp)>,
    /// The step of the journal's last entry and the subject of its reason, if that was a wait.
    pub(crate) last_wait: Option<(String, String)>,
    pub(crate) watched: WatchGuard,
}

/// What a reason for waiting is about. Behind the first colon stands how far it is, which changes while the wait is the same.
pub(crate) fn subject(reason: &str) -> String {
    reason.split_once(": ").map_or(reason, |(subject, _)| subject).to_owned()
}

/// The result of a run, on its way to the store.
pub(crate) struct Finding {
    pub(crate) stage: String,
    pub(crate) step: String,
    pub(crate) began_at: Timestamp,
    pub(crate) number: i64,
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) changes: Vec<Change>,
    /// The step's note for people.
    pub(crate) note: Option<String>,
}

/// The finding of a step that was not run.
fn nothing_ran(hand: &OperationInHand, now: Timestamp) -> Finding {
    Finding {
        stage: hand.position.stage.clone().unwrap_or_default(),
        step: hand.position.step.clone().unwrap_or_default(),
        began_at: now,
        number: hand.runs,
        data: None,
        changes: Vec::new(),
        note: None,
    }
}

impl Incarnation {
    /// Commits data in the middle of a run. `None`: the operation is not held any more.
    pub(crate) async fn save(
        &self,
        hand: &mut OperationInHand,
        request: SaveRequest,
    ) -> Option<()> {
        let data = request.data;
        let commit = Commit {
            id: hand.names.id,
            epoch: hand.epoch,
            serial: hand.serial,
            position: hand.position.clone(),
            then: AfterCommit::Hold,
            run: None,
            data: data.clone(),
            data_version: hand.plan.version(),
            changes: request.changes,
        };
        let answer = match self.store(commit).await {
            CommitResult::Yes { journal, cancel } => {
                hand.serial += 1;
                hand.journal = journal;
                hand.cancel = cancel;
                if let Some(data) = data {
                    hand.data = data;
                }
                Ok(())
            }
            CommitResult::Fenced => Err(SaveError::NotHeld),
            CommitResult::Rejected(reason) => Err(SaveError::Refused(reason)),
        };
        let held = answer != Err(SaveError::NotHeld);
        let _ = request.answer.send(answer);
        held.then_some(())
    }

    /// Stores a result, unless the lease ends first: a store that hangs must not keep the driver.
    async fn store(&self, commit: Commit) -> CommitResult {
        tokio::select! {
            biased;
            () = self.is_over() => CommitResult::Fenced,
            stored = self.committer.store(commit) => stored,
        }
    }

    pub(crate) async fn end_at_boundary(
        &self,
        hand: &mut OperationInHand,
        ended: Move,
        now: Timestamp,
    ) -> DriveResult {
        let result = nothing_ran(hand, now);
        match self.commit(hand, ended, result, now).await {
            Ok(Some(_)) => DriveResult::Ended,
            _ => DriveResult::Left,
        }
    }

    /// Passes the step at `at` over if that was asked for; `None` when it was not.
    pub(crate) async fn skip(
        &self,
        hand: &mut OperationInHand,
        at: (usize, usize),
        now: Timestamp,
    ) -> Option<DriveResult> {
        let shape = hand.plan.shape().clone();
        let (stage, step) = (&shape.stages[at.0].name, &shape.stages[at.0].steps[at.1].name);
        let skip = hand.skip.clone().filter(|skip| skip.is_of(stage, step))?;
        let since = hand.memory.as_ref().map(|(_, since)| *since);
        let reading = self.reading(now, since, false);
        let moved = decide::skip(&shape, at, &hand.position, &skip, &reading);
        if !moved.keep_memory {
            hand.memory = None;
        }
        let result = nothing_ran(hand, now);
        Some(match self.commit(hand, moved, result, now).await {
            Ok(Some(AfterCommit::Hold)) => DriveResult::Goes,
            Ok(Some(_)) => DriveResult::Ended,
            _ => DriveResult::Left,
        })
    }

    /// Commits a move. `Ok(None)`: not held any more. `Err`: a change was refused, nothing is stored.
    pub(crate) async fn commit(
        &self,
        hand: &mut OperationInHand,
        moved: Move,
        result: Finding,
        now: Timestamp,
    ) -> Result<Option<AfterCommit>, String> {
        let step = result.step.clone();
        if self.crashes(Point::BeforeCommit, hand.names.id, &step).await {
            return Ok(None);
        }
        let next_at = match &moved.then {
            AfterCommit::Sleep { until, .. } => Some(*until),
            _ => None,
        };
        let this_wait = (moved.outcome == Outcome::Wait && next_at.is_some())
            .then(|| (step.clone(), subject(moved.position.note.as_deref().unwrap_or_default())));
        let repeats = (this_wait.is_some() && this_wait == hand.last_wait).then_some(hand.journal);
        let run = Run {
            stage: result.stage,
            step: result.step,
            number: result.number,
            began_at: result.began_at,
            ended_at: now,
            outcome: moved.outcome,
            reason: moved.reason.or(result.note).map(base::failure::shortened),
            failure: moved.failure,
            next_at,
            repeats,
        };
        let commit = Commit {
            id: hand.names.id,
            epoch: hand.epoch,
            serial: hand.serial,
            position: moved.position.clone(),
            then: moved.then.clone(),
            run: Some(run.clone()),
            data: result.data.clone(),
            data_version: hand.plan.version(),
            changes: result.changes,
        };
        // The memory goes to the shelf first: the operation may be due again before this returns.
        if let (AfterCommit::Sleep { .. }, Some((memory, since)), Some(stage)) =
            (&moved.then, hand.memory.take_if(|_| next_at.is_some()), &moved.position.stage)
        {
            let kept = StageMemory { epoch: hand.epoch, stage: stage.clone(), since, memory };
            self.memories.put(hand.names.id, kept);
        }
        match self.store(commit).await {
            CommitResult::Fenced => {
                info!(operation.id = %hand.names.id, step, "the operation is not held here any more");
                self.memories.take(hand.names.id, hand.epoch, None);
                return Ok(None);
            }
            CommitResult::Rejected(reason) => {
                self.memories.take(hand.names.id, hand.epoch, None);
                return Err(reason);
            }
            CommitResult::Yes { journal, cancel } => {
                hand.serial += 1;
                hand.journal = journal;
                hand.cancel = cancel;
                hand.runs = run.number;
            }
        }
        if self.crashes(Point::Unanswered, hand.names.id, &step).await
            || self.crashes(Point::AfterCommit, hand.names.id, &step).await
        {
            return Ok(None);
        }
        if let Some(data) = result.data {
            hand.data = data;
        }
        hand.position = moved.position;
        hand.last_wait = this_wait;
        self.tell(hand, run);
        Ok(Some(moved.then))
    }

    fn tell(&self, hand: &OperationInHand, run: Run) {
        if let Some(failure) = &run.failure {
            warn!(operation.id = %hand.names.id, step = run.step, outcome = run.outcome.as_str(),
                error_component = failure.component, error_reason = failure.reason,
                "step {} failed: {}", run.step, failure.message);
        }
        if hand.position.state.is_final() {
            info!(operation.id = %hand.names.id, kind = hand.kind, state = hand.position.state.as_str(),
                "operation {} {}", hand.names.id, hand.position.state);
        }
        if self.events.receiver_count() == 0 {
            return;
        }
        let _ = self.events.send(Arc::new(Event {
            operation: hand.names.id,
            instance: hand.names.instance.to_string(),
            kind: hand.kind.clone(),
            lane: hand.names.lane.to_string(),
            journal: hand.journal,
            stage: run.stage,
            step: run.step,
            outcome: run.outcome,
            reason: run.reason,
            failure: run.failure,
            began_at: run.began_at,
            ended_at: run.ended_at,
            next_at: run.next_at,
            state: hand.position.state,
        }));
    }
}
