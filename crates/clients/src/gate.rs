//! The gate in front of one system: concurrency limit, deadline and circuit breaker.
//!
//! All calls go through [`Gate::pass`], whatever protocol they speak: there they get their key, their
//! span, their place in the queue and their deadline, and are counted. Waiting counts towards the deadline.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base::{
    Clock,
    caller::{self, Call, CallInterruption},
};
use reqwest::Method;
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout, timeout_at},
};
use tracing::{Instrument, Span, field};

use crate::{
    breaker::{Breaker, Health},
    error::{Component, Error, Kind, without_answer},
    observer::{CallReport, NoObserver, Observer},
};

/// How a client treats its system.
#[derive(Debug, Clone, Copy)]
pub struct CallLimits {
    /// How long a connection may take.
    pub connect: Duration,
    /// How long one call may take in all, waiting for its turn included.
    pub call: Duration,
    /// How large an answer may be, in bytes.
    pub body: usize,
    /// How many calls may be under way at once.
    pub at_once: usize,
}

impl CallLimits {
    /// Defaults for most systems. 32 calls that hang for 30 s are about one call a second.
    pub const DEFAULT: Self = Self {
        connect: Duration::from_secs(5),
        call: Duration::from_secs(30),
        body: 4 * 1024 * 1024,
        at_once: 32,
    };

    /// Defaults for Kubernetes: a page of Shoots, with all that Gardener notes in them, is some megabytes.
    pub const CLUSTER: Self = Self { body: 32 * 1024 * 1024, ..Self::DEFAULT };
}

/// One system as this process sees it. Clients of the same system share it.
#[derive(Debug)]
pub struct Gate {
    component: Component,
    limits: CallLimits,
    turns: Semaphore,
    breaker: Breaker,
    last_failure: Mutex<Option<String>>,
    clock: Clock,
    observer: Arc<dyn Observer>,
}

/// A call that is about to be made.
#[derive(Debug, Clone)]
pub(crate) struct CallSpec {
    /// The route, without names and ids.
    pub(crate) route: String,
    /// The attempted action, as a phrase.
    pub(crate) doing: String,
    pub(crate) method: Method,
    /// Whether it gets a key and a number of its own; calls that only some runs make must not.
    pub(crate) counted: bool,
    /// Whether its answer goes on and on: a watch takes nobody's turn.
    pub(crate) lasting: bool,
    /// Whether nobody depends on its answer: it says nothing about the system's health, and is no probe of it.
    pub(crate) hint: bool,
}

impl Gate {
    /// The gate of `component`.
    pub fn new(component: Component, limits: CallLimits, clock: Clock) -> Arc<Self> {
        Self::observed(component, limits, clock, Arc::new(NoObserver))
    }

    /// The gate of `component`, with an observer of its calls.
    pub fn observed(
        component: Component,
        limits: CallLimits,
        clock: Clock,
        observer: Arc<dyn Observer>,
    ) -> Arc<Self> {
        let turns = Semaphore::new(limits.at_once.min(Semaphore::MAX_PERMITS));
        let breaker = Breaker::new(clock.clone());
        let last_failure = Mutex::default();
        Arc::new(Self { component, limits, turns, breaker, last_failure, clock, observer })
    }

    /// The failure of the last failed call: rejected callers get it.
    fn last_failure(&self) -> MutexGuard<'_, Option<String>> {
        self.last_failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The system behind it.
    pub fn component(&self) -> Component {
        self.component
    }

    /// How it is treated.
    pub fn limits(&self) -> &CallLimits {
        &self.limits
    }

    /// The clock it goes by.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Counts a warning that came with an answer.
    pub(crate) fn warned(&self) {
        self.observer.warned(self.component);
    }

    /// Makes one call. `judge` tells what kind of failure an answer is, if it is one.
    pub(crate) async fn pass<T, F>(
        &self,
        asked: CallSpec,
        judge: impl Fn(&T) -> Option<Kind>,
        make: impl FnOnce(Option<Call>) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let span = tracing::info_span!(
            "call",
            system = %self.component,
            route = asked.route,
            doing = asked.doing,
            outcome = field::Empty,
        );
        let mut count = Count::begin(self, &asked.route, span.clone());
        let judge = |result: &Result<T, Error>| match result {
            Ok(answer) => judge(answer),
            Err(error) => Some(error.kind),
        };
        let result = self.take_turn(&asked, &mut count, &judge, make).instrument(span).await;
        count.outcome = judge(&result).map_or("ok", Kind::code);
        result
    }

    async fn take_turn<T, F>(
        &self,
        asked: &CallSpec,
        count: &mut Count<'_>,
        judge: &impl Fn(&Result<T, Error>) -> Option<Kind>,
        make: impl FnOnce(Option<Call>) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let failed = |kind| Error::new(self.component, kind, &asked.doing);
        let began = Instant::now();
        let deadline = began + self.limits.call;
        // The turn is taken before the operation's owner is checked, so that the check stands
        // right before the call.
        let wanted = u32::from(!asked.lasting);
        // A call that begins without time left would fail, and count against the system.
        let patience = self.limits.call * 9 / 10;
        let crowded = || failed(Kind::Unavailable).saying("too many calls at once");
        let Ok(Ok(_turn)) = timeout(patience, self.turns.acquire_many(wanted)).await else {
            return Err(crowded());
        };
        // A turn that came together with the end of the patience comes too late.
        if began.elapsed() >= patience {
            return Err(crowded());
        }
        count.waited = self.clock.monotonic().saturating_sub(count.began);
        let guarded = async |call: Option<Call>| {
            let entered = if asked.hint {
                self.breaker.rests().map_or(Ok(None), Err)
            } else {
                self.breaker.enter().map(Some)
            };
            let ticket = match entered {
                Ok(ticket) => ticket,
                Err(retry_after) => {
                    let paused = failed(Kind::Paused { retry_after });
                    let last = self.last_failure().clone();
                    return Err(last.map_or(paused.clone(), |last| paused.saying(last)));
                }
            };
            // In a box: clients' futures are large, and steps hold several of them.
            let result = match timeout_at(deadline, Box::pin(make(call))).await {
                Ok(result) => result,
                Err(_) => Err(failed(without_answer(&asked.method, false)).saying("out of time")),
            };
            let of_another = result.as_ref().is_err_and(|error| error.component != self.component);
            // A token that could not be renewed says nothing about the system that wants one.
            let kind = judge(&result);
            if !of_another && let (Some(ticket), Some(health)) = (ticket, health(kind)) {
                if let Health::Broken { .. } = health {
                    // An answer that tells a failure is no error yet: the client makes one of it later.
                    let failure = result.as_ref().err().cloned().or_else(|| kind.map(failed));
                    *self.last_failure() = failure.map(|error| error.to_string());
                }
                ticket.finish(health);
            }
            result
        };
        if !asked.counted {
            return guarded(None).await;
        }
        match caller::call(guarded).await {
            Ok(result) => result,
            Err(CallInterruption::NotHeld) => Err(failed(Kind::NotHeld)),
            Err(CallInterruption::AnswerLost) => Err(failed(Kind::AnswerLost)),
        }
    }
}

/// The system's health after a result; `None`: unknown.
fn health(kind: Option<Kind>) -> Option<Health> {
    match kind {
        Some(Kind::Unavailable | Kind::AnswerLost) => Some(Health::Broken { leave_alone: None }),
        Some(Kind::Throttled { retry_after }) => Some(Health::Broken { leave_alone: retry_after }),
        Some(Kind::Paused { .. } | Kind::NotHeld) => None,
        _ => Some(Health::Well),
    }
}

/// Reports the call when it ends, also when it is dropped before it ends.
struct Count<'a> {
    gate: &'a Gate,
    route: &'a str,
    span: Span,
    began: Duration,
    waited: Duration,
    outcome: &'static str,
}

impl<'a> Count<'a> {
    fn begin(gate: &'a Gate, route: &'a str, span: Span) -> Self {
        let began = gate.clock.monotonic();
        Self { gate, route, span, began, waited: Duration::ZERO, outcome: "cancelled" }
    }
}

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.span.record("outcome", self.outcome);
        let took = self.gate.clock.monotonic().saturating_sub(self.began);
        let (route, outcome, waited) = (self.route, self.outcome, self.waited);
        let component = self.gate.component;
        self.gate.observer.finished(&CallReport { component, route, outcome, waited, took });
    }
}
