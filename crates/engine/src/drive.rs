//! Takes one held operation forward until it sleeps, ends, or is not held any more.
//!
//! Nothing leaves the process between the end of a step and its commit, and nothing of the next
//! step begins before it.

use std::{collections::HashMap, sync::Arc};

use base::{Caller, Clock, Failure};
use jiff::Timestamp;
use tokio::{
    sync::{broadcast, mpsc},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use crate::{
    committer::Committer,
    decide::{self, Reading, RunEnd, Start},
    events::Event,
    guard::WhileHeld,
    hooks::{Flow, Hooks, Point},
    landing::{Finding, OperationInHand, subject},
    lanes::Lanes,
    lease::Lease,
    memory::Memories,
    opened::{AnyPlan, OperationNames, RunResult},
    planted::PlantedBug,
    settings::Settings,
    signals::Signals,
    step::Ending,
    storage::{AfterCommit, HeldOperation, OperationId},
    watch::{Watch, WatchGuard},
};

/// Everything that one incarnation of a replica works with.
pub(crate) struct Incarnation {
    pub(crate) lease: Arc<Lease>,
    pub(crate) clock: Clock,
    pub(crate) plans: Arc<HashMap<String, Arc<dyn AnyPlan>>>,
    pub(crate) committer: Committer,
    pub(crate) lanes: Lanes,
    pub(crate) memories: Memories,
    pub(crate) signals: Arc<Signals>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) events: broadcast::Sender<Arc<Event>>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) random: Arc<std::sync::Mutex<fastrand::Rng>>,
    pub(crate) stopping: CancellationToken,
    pub(crate) hooks: Option<Arc<dyn Hooks>>,
    /// Set when a test lets the process die.
    pub(crate) crashed: CancellationToken,
}

/// How a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DriveResult {
    /// It sleeps until then.
    Sleeps(Timestamp),
    /// It is final.
    Ended,
    /// It is not held here any more, or the replica stops.
    Left,
    /// It is still held.
    Goes,
}

impl Incarnation {
    /// Takes an operation forward. Never panics: a step that does only fails its own operation.
    pub(crate) async fn drive(
        self: Arc<Self>,
        held: HeldOperation,
        watched: WatchGuard,
    ) -> DriveResult {
        let id = held.id;
        let Some(mut hand) = self.take_up(held, watched) else { return DriveResult::Left };
        if self.crashes(Point::AfterClaim, id, "").await {
            return DriveResult::Left;
        }
        loop {
            if !self.works() || hand.watched.stopped.is_cancelled() {
                return DriveResult::Left;
            }
            let shape = hand.plan.shape().clone();
            let now = self.clock.now();
            if let Some(ended) = decide::boundary(&shape, &hand.position, hand.cancel.as_ref(), now)
            {
                return self.end_at_boundary(&mut hand, ended, now).await;
            }
            let (position, stage, step) =
                match decide::start(&shape, &hand.position, hand.memory.is_some()) {
                    Start::Run(position, stage, step) => (position, stage, step),
                    Start::Complete => {
                        let ended = decide::complete(&hand.position, now);
                        return self.end_at_boundary(&mut hand, ended, now).await;
                    }
                };
            hand.position = *position;
            if let Some(skipped) = self.skip(&mut hand, (stage, step), now).await {
                match skipped {
                    DriveResult::Goes => continue,
                    drove => return drove,
                }
            }
            if hand.opened.is_none() {
                match hand.plan.clone().open(hand.names.clone(), &hand.input, &hand.data) {
                    Ok(opened) => hand.opened = Some(opened),
                    Err(failure) => {
                        let reading = self.reading(now, None, false);
                        let end = RunEnd::Fatal(failure);
                        let ended =
                            decide::decide(&shape, (stage, step), &hand.position, &end, &reading);
                        return self.end_at_boundary(&mut hand, ended, now).await;
                    }
                }
            }
            match self.run(&mut hand, (stage, step)).await {
                Some(AfterCommit::Hold) => {}
                Some(AfterCommit::Sleep { until, .. }) => return DriveResult::Sleeps(until),
                Some(AfterCommit::End) => return DriveResult::Ended,
                None => return DriveResult::Left,
            }
        }
    }

    fn take_up(&self, held: HeldOperation, watched: WatchGuard) -> Option<OperationInHand> {
        let plan = self.plans.get(&held.kind)?.clone();
        let mut position = held.position;
        let kept = self.memories.take(held.id, held.epoch, position.stage.as_deref());
        if self.settings.planted.is(PlantedBug::LimitsInMemory) && kept.is_none() {
            position.clocks.clear();
            position.started_at = position.started_at.map(|_| self.clock.now());
        }
        Some(OperationInHand {
            names: OperationNames {
                id: held.id,
                root: held.root,
                instance: held.instance.into(),
                lane: held.lane.into(),
            },
            kind: held.kind,
            plan,
            opened: None,
            input: held.input,
            data: held.data,
            epoch: held.epoch,
            serial: held.serial,
            runs: held.runs,
            journal: held.journal,
            // Without its memory it was taken over or starts over: the journal's last entry is no wait.
            last_wait: kept
                .as_ref()
                .and(position.step.clone().zip(position.note.as_deref().map(subject))),
            position,
            cancel: held.cancel,
            skip: held.skip,
            memory: kept.map(|kept| (kept.memory, kept.since)),
            watched,
        })
    }

    /// Runs one step and commits its result. `None`: the operation is not held any more.
    async fn run(&self, hand: &mut OperationInHand, at: (usize, usize)) -> Option<AfterCommit> {
        let shape = hand.plan.shape().clone();
        let (stage, step) = (&shape.stages[at.0], &shape.stages[at.0].steps[at.1]);
        let place = tokio::select! {
            biased;
            () = self.is_over() => return None,
            () = self.stopping.cancelled() => return None,
            () = hand.watched.stopped.cancelled() => return None,
            place = self.lanes.place(&hand.names.lane) => place,
        };
        if !self.works() || self.crashes(Point::BeforeRun, hand.names.id, &step.name).await {
            return None;
        }
        let began_at = self.clock.now();
        let number = hand.runs + 1;
        debug!(operation.id = %hand.names.id, step = step.name, run = number, "step {} runs", step.name);
        let memory_since = hand.memory.as_ref().map_or(began_at, |(_, since)| *since);
        let ran = self.run_in_its_own_task(hand, at, number, began_at).await?;
        drop(place);
        if self.crashes(Point::AfterRun, hand.names.id, &step.name).await {
            return None;
        }
        let (end, memory, data, changes, notes) = match ran {
            Ok(ran) => {
                hand.opened = Some(ran.opened);
                let memory = Some((ran.memory, memory_since));
                let data = ran.changed.then_some(ran.data);
                (ran.end?, memory, data, ran.changes, ran.notes)
            }
            Err(end) => (end, None, None, Vec::new(), Vec::new()),
        };
        let end = match &self.hooks {
            Some(hooks) => hooks.bend(&step.name, end),
            None => end,
        };
        let now = self.clock.now();
        let signalled = match &end {
            RunEnd::Returned(Ending::Wait(waiting)) => waiting
                .signal
                .as_deref()
                .is_some_and(|signal| self.signals.given_since(signal, began_at)),
            _ => false,
        };
        let reading = self.reading(now, memory.as_ref().map(|(_, since)| *since), signalled);
        let moved = decide::decide(&shape, at, &hand.position, &end, &reading);
        hand.memory = if moved.keep_memory { memory } else { None };
        let result = Finding {
            stage: stage.name.clone(),
            step: step.name.clone(),
            began_at,
            number,
            data,
            changes,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        };
        match self.commit(hand, moved, result, now).await {
            Ok(then) => then,
            Err(reason) => self.commit_rejection(hand, at, reason, began_at, number).await,
        }
    }

    /// A change to another row was refused: the run counts as failed, its data is dropped.
    async fn commit_rejection(
        &self,
        hand: &mut OperationInHand,
        at: (usize, usize),
        reason: String,
        began_at: Timestamp,
        number: i64,
    ) -> Option<AfterCommit> {
        let shape = hand.plan.shape().clone();
        let (stage, step) = (&shape.stages[at.0], &shape.stages[at.0].steps[at.1]);
        warn!(operation.id = %hand.names.id, step = step.name, reason, "the store refused the result");
        hand.opened = None;
        hand.memory = None;
        let now = self.clock.now();
        let failure = Failure::new("store", "change_refused", reason);
        let end = RunEnd::Transient { failure, retry_after: None };
        let moved =
            decide::decide(&shape, at, &hand.position, &end, &self.reading(now, None, false));
        let result = Finding {
            stage: stage.name.clone(),
            step: step.name.clone(),
            began_at,
            number,
            data: None,
            changes: Vec::new(),
            note: None,
        };
        self.commit(hand, moved, result, now).await.ok().flatten()
    }

    /// Runs a step in a task of its own, so that a panic or an endless wait harms nobody else.
    /// `None`: the operation is not held any more. `Err`: the run was lost with its data.
    async fn run_in_its_own_task(
        &self,
        hand: &mut OperationInHand,
        at: (usize, usize),
        number: i64,
        now: Timestamp,
    ) -> Option<Result<RunResult, RunEnd>> {
        let opened = hand.opened.take()?;
        let memory = hand.memory.take().map(|(memory, _)| memory);
        let step = hand.plan.shape().stages[at.0].steps[at.1].clone();
        let caller = Caller {
            operation: hand.names.id,
            root: hand.names.root,
            step: step.name.clone(),
            run: number,
            epoch: hand.epoch,
            replica: self.lease.replica,
            calls: Arc::default(),
            key_per_run: self.settings.planted.is(PlantedBug::KeyPerRun),
            guard: Arc::new(WhileHeld {
                lease: self.lease.clone(),
                hooks: self.hooks.clone(),
                crashed: self.crashed.clone(),
                stopped: hand.watched.stopped.clone(),
                planted: self.settings.planted,
            }),
        };
        let stopped = hand.watched.stopped.clone();
        let (line, mut saves) = mpsc::channel(1);
        let mut task = Abort(tokio::spawn(caller.scope(opened.run(at, memory, now, line))));
        let overdue = self.clock.sleep(step.retry.deadline);
        tokio::pin!(overdue);
        loop {
            tokio::select! {
                biased;
                () = self.is_over() => return None,
                () = stopped.cancelled() => return None,
                Some(request) = saves.recv() => self.save(hand, request).await?,
                ran = &mut task.0 => return Some(match ran {
                    Ok(ran) => Ok(ran),
                    Err(gone) if gone.is_panic() => {
                        let message = panic_message(&*gone.into_panic());
                        error!(operation.id = %hand.names.id, step = step.name, message, "step {} panicked", step.name);
                        assert!(!self.settings.planted.is(PlantedBug::PanicEscapes), "planted");
                        Err(RunEnd::Panicked(message))
                    }
                    Err(_) => return None,
                }),
                () = &mut overdue => {
                    let text = format!("step {} did not return within {:?}", step.name, step.retry.deadline);
                    warn!(operation.id = %hand.names.id, step = step.name, "{text}");
                    let failure = Failure::new("engine", "deadline", text);
                    return Some(Err(RunEnd::Transient { failure, retry_after: None }));
                }
            }
        }
    }

    pub(crate) fn reading(
        &self,
        now: Timestamp,
        memory_since: Option<Timestamp>,
        signalled: bool,
    ) -> Reading {
        let mut random = self.random.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Reading {
            now,
            memory_since,
            jitter: random.f64(),
            pace: self.settings.pace,
            patience: self.settings.patience,
            signalled,
            planted: self.settings.planted,
        }
    }

    /// Whether another run may begin.
    fn works(&self) -> bool {
        !self.stopping.is_cancelled()
            && !self.crashed.is_cancelled()
            && self.lease.permits(self.settings.planted)
    }

    /// Resolves when no further run may begin, and a waiting one should leave.
    pub(crate) async fn is_over(&self) {
        tokio::select! {
            biased;
            () = self.crashed.cancelled() => {}
            () = self.lost() => {}
        }
    }

    async fn lost(&self) {
        if self.settings.planted.is(PlantedBug::NoFence) {
            return std::future::pending().await;
        }
        self.lease.is_lost().await;
    }

    pub(crate) async fn crashes(&self, point: Point, id: OperationId, step: &str) -> bool {
        let Some(hooks) = &self.hooks else { return false };
        if hooks.at(point, id, step).await == Flow::Crash {
            self.crashed.cancel();
        }
        self.crashed.is_cancelled()
    }
}

/// Aborts its task when dropped.
struct Abort(JoinHandle<RunResult>);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}
