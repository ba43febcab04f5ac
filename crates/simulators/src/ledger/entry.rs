//! One line of the ledger: who did what, and how far it came.

use axum::http::{HeaderMap, request::Parts};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It arrived.
    Received,
    /// It changed something.
    Applied,
    /// Its answer leaves.
    Replied,
    /// Its answer never leaves whole: the connection is cut, or the caller has hung up.
    Lost,
}

/// One line of the ledger. A call has one that says `received`, one `applied` for each change it
/// made, and one `replied` or `lost`, unless the process died before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Counts all lines, without a gap.
    pub sequence: u64,
    /// When it was written.
    pub at: Timestamp,
    /// How far the call has come.
    pub phase: Phase,
    /// The sequence of the line that says `received`.
    pub call: u64,
    /// What was called, and by whom.
    #[serde(flatten)]
    pub about: About,
    /// What was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The status of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The trouble that the call met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// What was called, and by whom: the same in all lines of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The system.
    pub system: String,
    /// The method.
    pub method: String,
    /// The path.
    pub route: String,
    /// The idempotency key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The operation that calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The step that calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Which run of the operation calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<i64>,
    /// The epoch under which the operation is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// The replica that calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica: Option<String>,
}

impl About {
    /// Reads the request's line and the headers that carry its caller.
    pub fn new(system: &str, request: &Parts) -> Self {
        let text = |name| header(&request.headers, name);
        let number = |name| text(name).and_then(|text| text.parse().ok());
        Self {
            system: system.into(),
            method: request.method.to_string(),
            route: request.uri.path().into(),
            key: text("idempotency-key"),
            operation: text("x-kcp-operation"),
            step: text("x-kcp-step"),
            run: number("x-kcp-run"),
            epoch: number("x-kcp-epoch"),
            replica: text("x-kcp-replica"),
        }
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

/// Which lines to show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// Of this system only.
    pub system: Option<String>,
    /// With this idempotency key only.
    pub key: Option<String>,
    /// Of this operation only.
    pub operation: Option<String>,
    /// Of this phase only.
    pub phase: Option<Phase>,
}

impl Filter {
    /// Whether a line is to be shown.
    pub fn fits(&self, entry: &Entry) -> bool {
        let same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        same(&self.system, Some(&entry.about.system))
            && same(&self.key, entry.about.key.as_deref())
            && same(&self.operation, entry.about.operation.as_deref())
            && self.phase.is_none_or(|phase| phase == entry.phase)
    }
}
