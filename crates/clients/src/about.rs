//! What each outside system is to us, as a value: the table in the documents is printed from it.

/// One outside system in a few sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Its name, the same as its [`crate::Component`].
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// The settings: the variable, and what it holds.
    pub settings: &'static [(&'static str, &'static str)],
    /// What is called when.
    pub called: &'static str,
    /// What happens while it is down.
    pub when_down: &'static str,
}
