//! A plan without its code: what decisions, documents and readers need.

use std::{fmt, time::Duration};

use crate::retry::{AtLimit, Retry};

/// A plan without its code: what decisions, documents and readers need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The kind of operation.
    pub kind: String,
    /// How long an operation may take from leaving `pending`.
    pub limit: Duration,
    /// Its stages in order.
    pub stages: Vec<StageShape>,
    /// The steps that are not in it because they are switched off.
    pub off: Vec<OffShape>,
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
    /// When it runs; each ends the sentence "it runs if …", and all must hold.
    pub conditions: Vec<String>,
    /// The outside system without which it is not in the plan.
    pub needs: Option<String>,
    /// The work left undone when it is skipped at a limit, for people.
    pub leaves: Option<&'static str>,
    /// The outside systems that it calls.
    pub calls: Vec<String>,
}

/// A step that is switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffShape {
    /// The stage that it would be shown in.
    pub stage: String,
    /// Its name.
    pub step: String,
    /// The outside system that it needs and that is not there.
    pub needs: Option<String>,
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
        self.all_steps().count()
    }

    /// All steps in order.
    pub fn all_steps(&self) -> impl Iterator<Item = &StepShape> {
        self.stages.iter().flat_map(|stage| &stage.steps)
    }

    /// How long all steps may take by their own limits, one after the other. The operation's limit may be shorter, and
    /// then it comes first.
    pub fn budget(&self) -> Duration {
        self.all_steps().map(|step| step.retry.budget()).sum()
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
