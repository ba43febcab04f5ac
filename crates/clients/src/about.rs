//! What the documents say about an outside system, beside the code that calls it.

/// One outside system, for the documents.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Environment variables, and what each holds.
    pub settings: &'static [(&'static str, &'static str)],
    /// What is called when.
    pub called: &'static str,
    /// What happens when it is down.
    pub when_down: &'static str,
}
