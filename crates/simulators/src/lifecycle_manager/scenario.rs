//! Scenarios of a Kyma, in one of its annotations.
//!
//! A list separated by commas, such as `slow,stuck-delete`. Words that are not known are left aside.

use kube::{ResourceExt, api::DynamicObject};

/// The words that are known.
pub(crate) const WORDS: &[&str] =
    &["slow", "error", "warning", "stuck-delete", "flapping", "silent"];

/// The scenario of a Kyma.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct Scenario {
    /// Everything takes five times as long.
    pub(super) slow: bool,
    /// Its modules end in an error.
    pub(super) error: bool,
    /// Its modules end with a warning.
    pub(super) warning: bool,
    /// It is never let go of.
    pub(super) stuck_delete: bool,
    /// It goes from `Ready` to `Error` and back.
    pub(super) flapping: bool,
    /// The controller ignores it.
    pub(super) silent: bool,
}

impl Scenario {
    /// Reads it from a Kyma.
    pub(super) fn of(kyma: &DynamicObject) -> Self {
        Self::parse(kyma.annotations().get(super::SCENARIO).map_or("", String::as_str))
    }

    fn parse(text: &str) -> Self {
        let says = |word: &str| text.split(',').any(|found| found.trim() == word);
        Self {
            slow: says("slow"),
            error: says("error"),
            warning: says("warning"),
            stuck_delete: says("stuck-delete"),
            flapping: says("flapping"),
            silent: says("silent"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_changes_what_happens() {
        assert!(WORDS.iter().all(|word| Scenario::parse(word) != Scenario::default()));
        assert_eq!(Scenario::parse("what-ever"), Scenario::default());
    }
}
