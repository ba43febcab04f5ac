//! Why a catalog cannot be used.

use std::fmt;

/// A catalog that the program does not start with.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A file or folder could not be read.
    #[error("{file} is unreadable")]
    Unreadable {
        /// Which one.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file that nobody knows.
    #[error("{file} is not a file of the catalog")]
    Unknown {
        /// Which one.
        file: String,
    },
    /// A file does not say what it should in the form that it should.
    #[error("{file}:{line}: {problem}")]
    Malformed {
        /// Which one.
        file: String,
        /// Where.
        line: u64,
        /// The parser's message.
        problem: String,
    },
    /// The files are readable but do not fit together.
    #[error("{}", joined(.0))]
    Broken(Vec<Finding>),
    /// A plan is to be offered that does not exist.
    #[error("unrecognized {0} plan name")]
    UnknownPlan(String),
}

/// A rule that a catalog breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub file: &'static str,
    /// The line; 0 when it is about the file as a whole.
    pub line: u64,
    /// The rule, with what breaks it.
    pub rule: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.rule)
    }
}

fn joined(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("; ")
}
