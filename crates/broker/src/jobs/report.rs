//! The report of a job's run: counts, and the first details.
//!
//! What a reader would get wrong: it is bounded. However many candidates there are, a run keeps the first details alone, and of those that
//! failed fewer, so that they do not take the place of the others. The others are stored beside the run, page by page.

use std::fmt;

use base::failure::shortened;
use serde::{Deserialize, Serialize};

/// How many details are kept.
pub(super) const DETAILS: usize = 200;
/// How many of them may be failures.
const FAILURES: u64 = 50;

/// The report of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// How many things were looked at that the job is about.
    pub candidates: u64,
    /// On how many the job has acted, or would have in a dry run.
    pub done: u64,
    /// How many need nothing, or cannot be acted on yet.
    pub skipped: u64,
    /// On how many it could not act; the next run tries again.
    pub failed: u64,
    /// The first details.
    pub details: Vec<Detail>,
    /// How many details were left out; they are stored beside the run.
    pub omitted: u64,
    /// Those of them that are not stored yet.
    #[serde(skip)]
    pub overflow: Vec<Detail>,
}

/// The outcome of one candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The instance, Shoot, binding or account.
    pub item: String,
    /// What became of it.
    pub outcome: Outcome,
    /// In words.
    pub text: String,
}

/// The outcome of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The job has acted.
    Done,
    /// It would have acted; a dry run changes nothing.
    WouldDo,
    /// Nothing had to be done, or nothing can be done yet.
    Skipped,
    /// It could not.
    Failed,
}

impl Outcome {
    const ALL: [Self; 4] = [Self::Done, Self::WouldDo, Self::Skipped, Self::Failed];

    /// The outcome that this word is for.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::WouldDo => "would_do",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

impl Report {
    /// Notes what became of a candidate.
    pub(super) fn note(&mut self, item: &str, outcome: Outcome, text: impl Into<String>) {
        self.candidates += 1;
        match outcome {
            Outcome::Done | Outcome::WouldDo => self.done += 1,
            Outcome::Skipped => self.skipped += 1,
            Outcome::Failed => self.failed += 1,
        }
        let detail = Detail { item: item.to_owned(), outcome, text: shortened(text.into()) };
        let is_one_too_many = outcome == Outcome::Failed && self.failed > FAILURES;
        if is_one_too_many || self.details.len() >= DETAILS {
            self.omitted += 1;
            self.overflow.push(detail);
            return;
        }
        self.details.push(detail);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { candidates, done, skipped, failed, .. } = self;
        write!(f, "{candidates} candidates, {done} done, {skipped} skipped, {failed} failed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_leave_room_for_what_comes_after_them() {
        let mut report = Report::default();

        for number in 0..300 {
            report.note(&number.to_string(), Outcome::Failed, "no answer");
        }
        report.note("shoot", Outcome::Done, "Shoot without an instance");

        assert_eq!((report.details.len(), report.failed, report.omitted), (51, 300, 250));
        assert_eq!(report.details.last().unwrap().item, "shoot");
    }

    #[test]
    fn counts_go_on_when_there_is_no_room_for_details() {
        let mut report = Report::default();

        for number in 0..DETAILS + 3 {
            report.note(&number.to_string(), Outcome::Done, "removed");
        }
        report.note("last", Outcome::Failed, "gardener: unavailable");

        assert_eq!(report.details.len(), DETAILS);
        assert_eq!((report.done, report.failed, report.omitted), (203, 1, 4));
        assert_eq!(report.to_string(), "204 candidates, 203 done, 0 skipped, 1 failed");
    }
}
