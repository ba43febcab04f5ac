//! An operation with its data decoded, its type hidden from the worker.

use std::{any::Any, future::Future, pin::Pin, sync::Arc};

use base::Failure;
use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::{
    codec::Codec,
    decide::RunEnd,
    operation::Operation,
    plan::{CheckedPlan, Shape},
    saving::{SaveRequest, Saver},
    step::{Applies, Cx, StepError},
    storage::{Change, OperationId},
};

/// Stage memory with its type hidden. There is no way to store it.
pub(crate) type Memory = Box<dyn Any + Send>;

/// A plan with its type hidden.
pub(crate) trait AnyPlan: Send + Sync {
    fn version(&self) -> i32;
    fn shape(&self) -> &Arc<Shape>;
    fn open(
        self: Arc<Self>,
        who: OperationNames,
        input: &[u8],
        data: &[u8],
    ) -> Result<Box<dyn OpenOperation>, Failure>;
}

/// The names of an operation.
#[derive(Debug, Clone)]
pub(crate) struct OperationNames {
    pub(crate) id: OperationId,
    pub(crate) root: OperationId,
    pub(crate) instance: Arc<str>,
    pub(crate) lane: Arc<str>,
}

/// An operation that can run a step.
pub(crate) trait OpenOperation: Send {
    /// Runs one step; the operation comes back with the result.
    fn run(
        self: Box<Self>,
        at: (usize, usize),
        memory: Option<Memory>,
        now: Timestamp,
        line: mpsc::Sender<SaveRequest>,
    ) -> Pin<Box<dyn Future<Output = RunResult> + Send>>;
}

/// The result of a run.
pub(crate) struct RunResult {
    pub(crate) opened: Box<dyn OpenOperation>,
    pub(crate) memory: Memory,
    /// `None` when the operation turned out not to be held any more.
    pub(crate) end: Option<RunEnd>,
    /// The encoded data, and whether it changed since it was saved last.
    pub(crate) data: Vec<u8>,
    pub(crate) changed: bool,
    pub(crate) changes: Vec<Change>,
    /// For people, in the order in which they were left.
    pub(crate) notes: Vec<String>,
}

/// A plan and what its steps may reach.
pub(crate) struct ServedPlan<O: Operation> {
    pub(crate) plan: CheckedPlan<O>,
    pub(crate) env: Arc<O::Env>,
}

impl<O: Operation> AnyPlan for ServedPlan<O> {
    fn version(&self) -> i32 {
        O::VERSION
    }

    fn shape(&self) -> &Arc<Shape> {
        &self.plan.shape
    }

    fn open(
        self: Arc<Self>,
        who: OperationNames,
        input: &[u8],
        data: &[u8],
    ) -> Result<Box<dyn OpenOperation>, Failure> {
        let (input, _) = Codec::decode::<O::Input>("input", input)?;
        let (typed, codec) = Codec::decode::<O::Data>("data", data)?;
        Ok(Box::new(Open::<O> {
            served: self,
            who,
            input: Arc::new(input),
            data: typed,
            codec,
            saved: data.to_vec(),
        }))
    }
}

struct Open<O: Operation> {
    served: Arc<ServedPlan<O>>,
    who: OperationNames,
    input: Arc<O::Input>,
    data: O::Data,
    codec: Codec,
    saved: Vec<u8>,
}

impl<O: Operation> OpenOperation for Open<O> {
    fn run(
        self: Box<Self>,
        at: (usize, usize),
        memory: Option<Memory>,
        now: Timestamp,
        line: mpsc::Sender<SaveRequest>,
    ) -> Pin<Box<dyn Future<Output = RunResult> + Send>> {
        Box::pin(self.run_typed(at, memory, now, line))
    }
}

impl<O: Operation> Open<O> {
    async fn run_typed(
        self,
        (stage, step): (usize, usize),
        memory: Option<Memory>,
        now: Timestamp,
        line: mpsc::Sender<SaveRequest>,
    ) -> RunResult {
        let Self { served, who, input, mut data, codec, saved } = self;
        let mut memory: Box<O::Memory> =
            memory.and_then(|memory| memory.downcast().ok()).unwrap_or_default();
        let (mut changes, mut notes) = (Vec::new(), Vec::new());
        let mut saver = Saver::new(codec.clone(), saved.clone(), line);
        let mut cx: Cx<'_, O> = Cx {
            input: &*input,
            data: &mut data,
            memory: &mut *memory,
            env: &*served.env,
            plan: &served.plan.shape,
            now,
            operation: who.id,
            root: who.root,
            instance: &who.instance,
            lane: &who.lane,
            changes: &mut changes,
            notes: &mut notes,
            saver: &mut saver,
        };
        let end = match served.plan.step_at(stage, step) {
            None => Some(RunEnd::Fatal(Failure::new(
                "engine",
                "no_step",
                "the step is not in the plan",
            ))),
            Some(planned) => match planned.applies(&cx) {
                Applies::No(reason) => Some(RunEnd::Skipped(reason.into_owned())),
                Applies::Yes => match planned.run(&mut cx).await {
                    Ok(ending) => Some(RunEnd::Returned(ending)),
                    Err(StepError::Transient { failure, retry_after }) => {
                        Some(RunEnd::Transient { failure, retry_after })
                    }
                    Err(StepError::Fatal(failure)) => Some(RunEnd::Fatal(failure)),
                    Err(StepError::NotHeld) => None,
                },
            },
        };
        let (end, codec, bytes, changed) = match saver.finish(&data) {
            Ok((codec, bytes, changed)) => (end, codec, bytes, changed),
            Err(failure) => (end.map(|_| RunEnd::Fatal(failure)), codec, saved, false),
        };
        let opened = Box::new(Self { served, who, input, data, codec, saved: bytes.clone() });
        RunResult { opened, memory, end, data: bytes, changed, changes, notes }
    }
}
