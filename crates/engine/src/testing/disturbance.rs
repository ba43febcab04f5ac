//! What is done to a run: one crash, one lost answer, one step that runs twice or fails for good.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use base::Failure;

use crate::{
    decide::RunEnd,
    hooks::{Flow, Hooks, Point},
    step::{Ending, waiting},
    storage::OperationId,
};

/// One place at which something can be done to a run: a point, a step, and which visit it is.
pub(super) type DisturbancePoint = (Point, String, usize);

/// A disturbance of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Disturbance {
    Nothing,
    CrashAt(DisturbancePoint),
    /// And again as soon as another incarnation has claimed the operation.
    CrashTwice(DisturbancePoint),
    LoseAnswerAt(DisturbancePoint),
    RunTwice,
    FailForGood(String),
}

impl Disturbance {
    /// Whether it is done to this step.
    pub(super) fn concerns(&self, step: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::RunTwice => true,
            Self::CrashAt((_, at, _))
            | Self::CrashTwice((_, at, _))
            | Self::LoseAnswerAt((_, at, _))
            | Self::FailForGood(at) => at == step,
        }
    }

    /// Which part it belongs to. That follows from what is done and not from its place in the list: polls
    /// are not counted alike in every process, and no trial may fall between two parts.
    pub(super) fn part(&self, of: usize) -> usize {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let text = format!("{self:?}");
        let hash =
            text.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        // The lowest bits of this hash depend on the lowest bits of the text alone.
        usize::try_from((hash >> 32) % of as u64).unwrap_or_default()
    }
}

/// Notes the places of a run, and disturbs one.
pub(super) struct Nemesis {
    disturbance: Disturbance,
    seen: Mutex<VisitLog>,
}

/// The visited points.
#[derive(Default)]
pub(super) struct VisitLog {
    visits: BTreeMap<(Point, String), usize>,
    pub(super) places: Vec<DisturbancePoint>,
    hit: bool,
    done_once: Vec<String>,
    crashed_again: bool,
}

impl Nemesis {
    pub(super) fn new(disturbance: Disturbance) -> Arc<Self> {
        Arc::new(Self { disturbance, seen: Mutex::default() })
    }

    pub(super) fn seen(&self) -> std::sync::MutexGuard<'_, VisitLog> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn visit(&self, point: Point, step: &str) -> Flow {
        let mut seen = self.seen();
        let visit = seen.visits.entry((point, step.to_owned())).or_default();
        *visit += 1;
        let place = (point, step.to_owned(), *visit);
        seen.places.push(place.clone());
        match &self.disturbance {
            Disturbance::CrashTwice(_)
                if seen.hit && !seen.crashed_again && point == Point::AfterClaim =>
            {
                seen.crashed_again = true;
                Flow::Crash
            }
            Disturbance::CrashAt(at) | Disturbance::CrashTwice(at) if *at == place && !seen.hit => {
                seen.hit = true;
                Flow::Crash
            }
            Disturbance::LoseAnswerAt(at) if *at == place && !seen.hit => {
                seen.hit = true;
                Flow::LoseAnswer
            }
            _ => Flow::Go,
        }
    }
}

impl Hooks for Nemesis {
    fn at<'a>(
        &'a self,
        point: Point,
        _: OperationId,
        step: &'a str,
    ) -> Pin<Box<dyn Future<Output = Flow> + Send + 'a>> {
        let flow = self.visit(point, step);
        Box::pin(std::future::ready(flow))
    }

    fn bend(&self, step: &str, end: RunEnd) -> RunEnd {
        match &self.disturbance {
            Disturbance::RunTwice if end == RunEnd::Returned(Ending::Done) => {
                let mut seen = self.seen();
                if seen.done_once.iter().any(|done| done == step) {
                    return end;
                }
                seen.done_once.push(step.to_owned());
                RunEnd::Returned(Ending::Wait(waiting("it is run twice")))
            }
            Disturbance::FailForGood(failing) if failing == step => RunEnd::Transient {
                failure: Failure::new("test", "for_good", "it fails for good"),
                retry_after: None,
            },
            _ => end,
        }
    }
}
