//! Steps of one's own in a plan that somebody else wrote.

use super::{InPlan, Plan};
use crate::operation::Operation;

impl<O: Operation> Plan<O> {
    /// Puts a step right behind the step `neighbour`, into its stage. One that has a weight of its own keeps it, and with it its place.
    #[must_use]
    pub fn step_after<M>(mut self, neighbour: &'static str, step: impl InPlan<O, M>) -> Self {
        let mut step = step.planned();
        for (_, steps) in &mut self.stages {
            if let Some(at) = steps.iter().position(|one| one.name == neighbour) {
                // Where steps are ordered by their weights, its place is among the neighbour's equals.
                step.weight = step.weight.or(steps[at].weight);
                steps.insert(at + 1, step);
                return self;
            }
        }
        self.misplaced.push((step.name, neighbour));
        self
    }

    /// Puts a stage with one step right before the stage `neighbour`.
    #[must_use]
    pub fn stage_before<M>(
        mut self,
        neighbour: &'static str,
        stage: &'static str,
        step: impl InPlan<O, M>,
    ) -> Self {
        match self.stages.iter().position(|(name, _)| *name == neighbour) {
            Some(at) => self.stages.insert(at, (stage, vec![step.planned()])),
            None => self.misplaced.push((stage, neighbour)),
        }
        self
    }
}
