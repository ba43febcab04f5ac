//! When a step of a plan is needed, as code and in words.

use crate::{
    operation::Operation,
    step::{Applies, Cx},
};

/// Whether a step is needed: decided by code right before it would run, and described in words for readers of the plan.
pub struct Condition<O: Operation> {
    words: &'static str,
    holds: fn(&Cx<'_, O>) -> Applies,
}

impl<O: Operation> Condition<O> {
    /// `words` end the sentence "it runs if …".
    pub const fn new(words: &'static str, holds: fn(&Cx<'_, O>) -> Applies) -> Self {
        Self { words, holds }
    }

    /// How it reads.
    pub fn words(&self) -> &'static str {
        self.words
    }

    /// Whether it holds now.
    pub(crate) fn applies(&self, cx: &Cx<'_, O>) -> Applies {
        (self.holds)(cx)
    }
}
