//! Stages and steps, in order.
//!
//! A plan is checked before anything runs: what cannot work is refused at start with the reason.

mod condition;
mod problem;
mod shape;

use std::{collections::BTreeSet, future::Future, pin::Pin, sync::Arc, time::Duration};

pub use condition::Condition;
pub use problem::{PlanError, Problem};
pub use shape::{OffShape, Shape, StageShape, StepShape};

use crate::{
    operation::Operation,
    retry::Retry,
    step::{Applies, Cx, Step, StepResult},
};

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
    needs: Option<&'static str>,
    leaves: Option<&'static str>,
    calls: &'static [&'static str],
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
            needs: None,
            leaves: None,
            calls: S::CALLS,
            label: None,
            conditions: Vec::new(),
        }
    }

    /// See [`Step::when`]. Several conditions must all hold.
    #[must_use]
    pub fn when(mut self, condition: Condition<O>) -> Self {
        self.conditions.push(condition);
        self
    }

    /// See [`Step::switched`].
    #[must_use]
    pub fn switched(mut self, on: bool) -> Self {
        self.on = self.on && on;
        self
    }

    /// See [`Step::needs`].
    #[must_use]
    pub fn needs(mut self, system: impl Into<&'static str>) -> Self {
        self.needs = Some(system.into());
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

    /// See [`Step::or_leave`].
    #[must_use]
    pub fn or_leave(mut self, what: &'static str) -> Self {
        self.leaves = Some(what);
        self.or_skip()
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
            .map(|condition| condition.applies(cx))
            .find(|applies| *applies != Applies::Yes)
            .unwrap_or(Applies::Yes)
    }

    pub(crate) async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        self.step.run(cx).await
    }

    /// The systems that it calls, each once.
    fn calls(&self) -> Vec<String> {
        let more = self.calls.iter().filter(|system| Some(**system) != self.needs);
        self.needs.iter().chain(more).map(|system| (*system).into()).collect()
    }

    fn shape(&self) -> StepShape {
        StepShape {
            name: self.name.into(),
            retry: self.retry,
            weight: self.weight,
            label: self.label.map(Into::into),
            conditions: self.conditions.iter().map(|one| one.words().into()).collect(),
            needs: self.needs.map(Into::into),
            leaves: self.leaves,
            calls: self.calls(),
        }
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
pub struct RefinedStep;

impl<O: Operation, S: Step<O>> InPlan<O, AsWritten> for S {
    fn planned(self) -> PlannedStep<O> {
        PlannedStep::new(self)
    }
}

impl<O: Operation> InPlan<O, RefinedStep> for PlannedStep<O> {
    fn planned(self) -> PlannedStep<O> {
        self
    }
}

/// A plan: stages of steps, within a limit.
pub struct Plan<O: Operation> {
    limit: Duration,
    stages: Vec<(&'static str, Vec<PlannedStep<O>>)>,
    orphans: Vec<&'static str>,
    /// The outside systems that are configured; all of them if the plan does not say.
    systems: Option<BTreeSet<&'static str>>,
}

impl<O: Operation> Plan<O> {
    /// An empty plan whose operations may take `limit` from the moment they leave `pending`.
    pub fn within(limit: Duration) -> Self {
        Self { limit, stages: Vec::new(), orphans: Vec::new(), systems: None }
    }

    /// Takes the steps out that need another outside system than these.
    #[must_use]
    pub fn reaching<S: Into<&'static str>>(mut self, systems: impl IntoIterator<Item = S>) -> Self {
        self.systems = Some(systems.into_iter().map(Into::into).collect());
        self
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

    /// Adds a stage that is named after its only step: once done, the step never runs again.
    #[must_use]
    pub fn each<M>(mut self, step: impl InPlan<O, M>) -> Self {
        let step = step.planned();
        self.stages.push((step.name, vec![step]));
        self
    }

    /// Checks the plan and puts its steps in order.
    pub fn check(mut self) -> Result<CheckedPlan<O>, PlanError> {
        self.switch_off();
        let off = self.off();
        self.put_in_order().map_err(|problem| PlanError { kind: O::KIND, problem })?;
        let stages = self.stages.iter().map(|(name, steps)| StageShape {
            name: (*name).into(),
            steps: steps.iter().map(PlannedStep::shape).collect(),
        });
        let shape =
            Shape { kind: O::KIND.into(), limit: self.limit, stages: stages.collect(), off };
        Ok(CheckedPlan { shape: Arc::new(shape), stages: self.stages })
    }

    /// Switches the steps off whose outside system is not configured.
    fn switch_off(&mut self) {
        let Some(systems) = &self.systems else { return };
        for step in self.stages.iter_mut().flat_map(|(_, steps)| steps) {
            step.on &= step.needs.is_none_or(|system| systems.contains(system));
        }
    }

    /// The steps that are switched off.
    fn off(&self) -> Vec<OffShape> {
        let all =
            self.stages.iter().flat_map(|(stage, steps)| steps.iter().map(move |s| (stage, s)));
        let off = all.filter(|(_, step)| !step.on).map(|(stage, step)| OffShape {
            stage: step.label.unwrap_or(stage).into(),
            step: step.name.into(),
            needs: step.needs.map(Into::into),
        });
        off.collect()
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
                if step.conditions.iter().any(|condition| condition.words().is_empty()) {
                    return Err(Problem::NoWords(step.name.into()));
                }
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

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
