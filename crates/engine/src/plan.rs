//! Stages and steps, in order.
//!
//! A plan is checked before anything runs: what cannot work is refused at start with the reason.

use std::{collections::BTreeSet, fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use crate::{
    operation::Operation,
    retry::{AtLimit, Retry},
    step::{Applies, Cx, Step, StepResult},
};

type Condition<O> = Arc<dyn Fn(&Cx<'_, O>) -> Applies + Send + Sync>;
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A step without its type.
trait AnyStep<O: Operation>: Send + Sync {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_, O>) -> BoxFuture<'a, StepResult>;
}

impl<O: Operation, S: Step<O>> AnyStep<O> for S {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_, O>) -> BoxFuture<'a, StepResult> {
        Box::pin(Step::run(self, cx))
    }
}

/// A step with its place in a plan.
pub struct PlannedStep<O: Operation> {
    name: &'static str,
    step: Box<dyn AnyStep<O>>,
    retry: Retry,
    weight: u32,
    on: bool,
    label: Option<&'static str>,
    conditions: Vec<Condition<O>>,
}

impl<O: Operation> PlannedStep<O> {
    /// A step as its author wrote it.
    pub fn new<S: Step<O>>(step: S) -> Self {
        Self {
            name: S::NAME,
            step: Box::new(step),
            retry: S::RETRY,
            weight: 1,
            on: true,
            label: None,
            conditions: Vec::new(),
        }
    }

    /// See [`Step::when`]. Several conditions must all hold.
    #[must_use]
    pub fn when(
        mut self,
        condition: impl Fn(&Cx<'_, O>) -> Applies + Send + Sync + 'static,
    ) -> Self {
        self.conditions.push(Arc::new(condition));
        self
    }

    /// See [`Step::switched`].
    #[must_use]
    pub fn switched(mut self, on: bool) -> Self {
        self.on = self.on && on;
        self
    }

    /// See [`Step::weight`].
    #[must_use]
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// See [`Step::failing_for`].
    #[must_use]
    pub fn failing_for(mut self, limit: Duration) -> Self {
        self.retry = self.retry.failing_for(limit);
        self
    }

    /// See [`Step::waiting_for`].
    #[must_use]
    pub fn waiting_for(mut self, limit: Duration) -> Self {
        self.retry = self.retry.waiting_for(limit);
        self
    }

    /// Replaces the intervals and limits altogether.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// See [`Step::or_skip`].
    #[must_use]
    pub fn or_skip(mut self) -> Self {
        self.retry = self.retry.then_skip();
        self
    }

    /// See [`Step::labelled`].
    #[must_use]
    pub fn labelled(mut self, label: &'static str) -> Self {
        self.label = Some(label);
        self
    }

    /// Whether it applies now.
    pub(crate) fn applies(&self, cx: &Cx<'_, O>) -> Applies {
        self.conditions
            .iter()
            .map(|condition| condition(cx))
            .find(|applies| *applies != Applies::Yes)
            .unwrap_or(Applies::Yes)
    }

    pub(crate) async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        self.step.run(cx).await
    }
}

/// What may stand in a plan: a step as written, or one that was refined with `.when(…)` and the like.
/// `M` only tells the two apart.
pub trait InPlan<O: Operation, M> {
    /// The step with its place in the plan.
    fn planned(self) -> PlannedStep<O>;
}

/// A step as its author wrote it.
pub struct AsWritten;
/// A step that was refined in the plan.
pub struct Refined;

impl<O: Operation, S: Step<O>> InPlan<O, AsWritten> for S {
    fn planned(self) -> PlannedStep<O> {
        PlannedStep::new(self)
    }
}

impl<O: Operation> InPlan<O, Refined> for PlannedStep<O> {
    fn planned(self) -> PlannedStep<O> {
        self
    }
}

/// What an operation does: stages of steps, within a limit.
pub struct Plan<O: Operation> {
    limit: Duration,
    stages: Vec<(&'static str, Vec<PlannedStep<O>>)>,
    orphans: Vec<&'static str>,
}

impl<O: Operation> Plan<O> {
    /// An empty plan whose operations may take `limit` from the moment they leave `pending`.
    pub fn within(limit: Duration) -> Self {
        Self { limit, stages: Vec::new(), orphans: Vec::new() }
    }

    /// Opens a stage.
    #[must_use]
    pub fn stage(mut self, name: &'static str) -> Self {
        self.stages.push((name, Vec::new()));
        self
    }

    /// Adds a step to the stage opened last.
    #[must_use]
    pub fn step<M>(mut self, step: impl InPlan<O, M>) -> Self {
        let step = step.planned();
        match self.stages.last_mut() {
            Some((_, steps)) => steps.push(step),
            None => self.orphans.push(step.name),
        }
        self
    }

    /// Checks the plan and puts its steps in order.
    pub fn check(mut self) -> Result<CheckedPlan<O>, PlanError> {
        self.put_in_order().map_err(|problem| PlanError { kind: O::KIND, problem })?;
        let shape = Shape {
            kind: O::KIND.into(),
            limit: self.limit,
            stages: self
                .stages
                .iter()
                .map(|(name, steps)| StageShape {
                    name: (*name).into(),
                    steps: steps
                        .iter()
                        .map(|step| StepShape {
                            name: step.name.into(),
                            retry: step.retry,
                            weight: step.weight,
                            label: step.label.map(Into::into),
                            conditional: !step.conditions.is_empty(),
                        })
                        .collect(),
                })
                .collect(),
        };
        Ok(CheckedPlan { shape: Arc::new(shape), stages: self.stages })
    }

    /// Finds what is wrong, and puts the steps in order on the way.
    fn put_in_order(&mut self) -> Result<(), Problem> {
        if let Some(step) = self.orphans.first() {
            return Err(Problem::NoStageFor((*step).into()));
        }
        if self.limit.is_zero() {
            return Err(Problem::NoTime);
        }
        let mut stage_names = BTreeSet::new();
        let mut step_names = BTreeSet::new();
        for (stage, steps) in &mut self.stages {
            check_name(stage)?;
            if !stage_names.insert(*stage) {
                return Err(Problem::TwoStages((*stage).into()));
            }
            if steps.is_empty() {
                return Err(Problem::EmptyStage((*stage).into()));
            }
            steps.retain(|step| step.on);
            steps.sort_by_key(|step| step.weight);
            for step in steps {
                check_name(step.name)?;
                if !step_names.insert(step.name) {
                    return Err(Problem::TwoSteps(step.name.into()));
                }
                check_step(step.name, step.weight, &step.retry)?;
            }
        }
        // A stage whose steps are all switched off is not in the plan at all.
        self.stages.retain(|(_, steps)| !steps.is_empty());
        if self.stages.is_empty() {
            return Err(Problem::Empty);
        }
        Ok(())
    }
}

fn check_name(name: &str) -> Result<(), Problem> {
    if name.is_empty() || name.contains([',', '/']) || name.len() > 100 {
        return Err(Problem::BadName(name.into()));
    }
    Ok(())
}

fn check_step(name: &str, weight: u32, retry: &Retry) -> Result<(), Problem> {
    if weight == 0 {
        return Err(Problem::NoWeight(name.into()));
    }
    let never = |what| Err(Problem::NeverTried(name.into(), what));
    if retry.deadline.is_zero() {
        return never("a run may take no time");
    }
    if retry.failing_for.is_zero() {
        return never("it may fail for no time");
    }
    if retry.waiting_for.is_some_and(|limit| limit.is_zero()) {
        return never("it may wait for no time");
    }
    if retry.back_off.is_zero() || retry.poll.is_zero() {
        return Err(Problem::NoPause(name.into()));
    }
    Ok(())
}

/// A plan that was found to work, with its steps in the order in which they run.
pub struct CheckedPlan<O: Operation> {
    /// Its names, limits and order.
    pub shape: Arc<Shape>,
    stages: Vec<(&'static str, Vec<PlannedStep<O>>)>,
}

impl<O: Operation> CheckedPlan<O> {
    pub(crate) fn step_at(&self, stage: usize, step: usize) -> Option<&PlannedStep<O>> {
        self.stages.get(stage).and_then(|(_, steps)| steps.get(step))
    }
}

/// A plan without its code: what decisions, documents and readers need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The kind of operation.
    pub kind: String,
    /// How long an operation may take from leaving `pending`.
    pub limit: Duration,
    /// Its stages in order.
    pub stages: Vec<StageShape>,
}

/// A stage without its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageShape {
    /// Unique in the plan.
    pub name: String,
    /// Its steps in order.
    pub steps: Vec<StepShape>,
}

/// A step without its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepShape {
    /// Unique in the plan.
    pub name: String,
    /// How often, for how long, and what then.
    pub retry: Retry,
    /// Its weight inside the stage.
    pub weight: u32,
    /// The stage name it is shown under, when that differs.
    pub label: Option<String>,
    /// Whether it has a condition.
    pub conditional: bool,
}

impl Shape {
    /// Where a step stands: indices of its stage and of itself.
    pub fn find(&self, stage: &str, step: &str) -> Option<(usize, usize)> {
        let at = self.stages.iter().position(|s| s.name == stage)?;
        let step = self.stages[at].steps.iter().position(|s| s.name == step)?;
        Some((at, step))
    }

    /// How many steps there are.
    pub fn steps(&self) -> usize {
        self.stages.iter().map(|stage| stage.steps.len()).sum()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} within {:#}", self.kind, span(self.limit))?;
        for stage in &self.stages {
            writeln!(f, "{}", stage.name)?;
            for step in &stage.steps {
                let then = match step.retry.at_limit {
                    AtLimit::Fail => "fail",
                    AtLimit::Skip => "skip",
                };
                write!(f, "  {} (failing for {:#}", step.name, span(step.retry.failing_for))?;
                if let Some(limit) = step.retry.waiting_for {
                    write!(f, ", waiting for {:#}", span(limit))?;
                }
                writeln!(f, ", then {then})")?;
            }
        }
        Ok(())
    }
}

fn span(duration: Duration) -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(duration).unwrap_or(jiff::SignedDuration::MAX)
}

/// A plan that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plan of \"{kind}\" cannot work: {problem}")]
pub struct PlanError {
    /// The kind of operation.
    pub kind: &'static str,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// No stage, or none with a step that is switched on.
    #[error("it has no steps")]
    Empty,
    /// Limit of zero.
    #[error("its limit is zero")]
    NoTime,
    /// A step before any stage.
    #[error("step \"{0}\" stands before the first stage")]
    NoStageFor(String),
    /// A stage without steps.
    #[error("stage \"{0}\" has no steps")]
    EmptyStage(String),
    /// The same stage name twice.
    #[error("two stages are named \"{0}\"")]
    TwoStages(String),
    /// The same step name twice.
    #[error("two steps are named \"{0}\"; idempotency keys would collide")]
    TwoSteps(String),
    /// A name that cannot be stored.
    #[error("\"{0}\" is not a name: 1 to 100 characters without comma or slash")]
    BadName(String),
    /// Weight of zero.
    #[error("step \"{0}\" has weight 0; weights begin at 1")]
    NoWeight(String),
    /// A limit of zero.
    #[error("step \"{0}\" can never be tried: {1}")]
    NeverTried(String, &'static str),
    /// An interval of zero.
    #[error("step \"{0}\" would be tried again without a pause")]
    NoPause(String),
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
