//! What is wrong with a plan that cannot work.

/// A plan that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plan of \"{kind}\" cannot work: {problem}")]
pub struct PlanError {
    /// The kind of operation.
    pub kind: &'static str,
    /// The problem.
    pub problem: Problem,
}

/// A problem of a plan.
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
    /// A condition that tells readers nothing.
    #[error("condition of step \"{0}\" has no description")]
    NoWords(String),
    /// An interval of zero.
    #[error("step \"{0}\" would be tried again without a pause")]
    NoPause(String),
}
