//! The report of an import.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

/// The most findings that a report holds; the rest is counted.
const MOST: usize = 2_000;

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing is written: the report says what would be.
    DryRun,
    /// Imports everything that can be imported.
    Apply,
}

/// Counts for one sort of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// In the source.
    pub found: u64,
    /// Taken over now, or to be in a dry run.
    pub taken: u64,
    /// In kcp already.
    pub present: u64,
    /// Not taken over.
    pub left_out: u64,
}

/// Something that an operator should know, and do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject: `instance 8f21`.
    pub subject: String,
    /// The problem.
    pub problem: String,
    /// The advised action.
    pub action: String,
}

impl Finding {
    /// A finding.
    pub fn new(
        subject: impl Into<String>,
        problem: impl Into<String>,
        action: impl Into<String>,
    ) -> Self {
        Self { subject: subject.into(), problem: problem.into(), action: action.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.subject, self.problem, self.action)
    }
}

/// The report of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// By the word for each sort of things: `instances`.
    pub counts: BTreeMap<&'static str, Count>,
    /// Findings for the operator.
    pub findings: Vec<Finding>,
    /// How many findings are not in the list.
    pub further_findings: u64,
}

impl Report {
    /// The count of a sort of things.
    pub fn count(&mut self, sort: &'static str) -> &mut Count {
        self.counts.entry(sort).or_default()
    }

    /// Adds a finding, or counts it when there are too many.
    pub fn add(&mut self, finding: Finding) {
        if self.findings.len() < MOST {
            self.findings.push(finding);
        } else {
            self.further_findings += 1;
        }
    }

    /// Adds findings.
    pub fn extend(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            self.add(finding);
        }
    }

    /// Whether everything that was found is in kcp.
    pub fn is_complete(&self) -> bool {
        self.counts.values().all(|count| count.left_out == 0)
    }
}
