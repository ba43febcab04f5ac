//! Responses of the broker, as far as tables show them. Fields that newer brokers add are ignored.

mod runtime;

use base::Failure;
use domain::OperationId;
use jiff::Timestamp;
use serde::Deserialize;

pub(crate) use runtime::{Runtime, RuntimePage};

#[derive(Deserialize)]
pub(crate) struct Operation {
    pub(crate) id: OperationId,
    pub(crate) kind: String,
    pub(crate) instance: String,
    pub(crate) state: String,
    pub(crate) stage: Option<String>,
    pub(crate) step: Option<String>,
    note: Option<String>,
    failure: Option<Failure>,
    pub(crate) cancel: Option<Cancel>,
    #[serde(default)]
    pub(crate) incomplete: Vec<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
}

#[derive(Deserialize)]
pub(crate) struct Cancel {
    pub(crate) reason: String,
}

#[derive(Deserialize)]
pub(crate) struct Waiting {
    pub(crate) kind: String,
    pub(crate) reason: String,
    pub(crate) since: Option<Timestamp>,
    pub(crate) next_try: Option<Timestamp>,
    pub(crate) step: Option<String>,
    pub(crate) place: Option<String>,
    pub(crate) limit_at: Option<Timestamp>,
    pub(crate) at_limit: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Entry {
    event: String,
    pub(crate) stage: Option<String>,
    pub(crate) step: Option<String>,
    outcome: Option<String>,
    pub(crate) times: i64,
    pub(crate) began_at: Timestamp,
    pub(crate) ended_at: Timestamp,
    reason: Option<String>,
    failure: Option<Failure>,
    pub(crate) next_at: Option<Timestamp>,
}

impl Operation {
    /// Why it waits or failed.
    pub(crate) fn reason(&self) -> String {
        why(self.note.as_ref(), self.failure.as_ref())
    }
}

impl Entry {
    /// How the run ended, or what else happened.
    pub(crate) fn what(&self) -> &str {
        self.outcome.as_deref().unwrap_or(&self.event)
    }

    pub(crate) fn why(&self) -> String {
        why(self.reason.as_ref(), self.failure.as_ref())
    }
}

fn why(said: Option<&String>, failure: Option<&Failure>) -> String {
    match (said, failure) {
        (_, Some(failure)) => failure.to_string(),
        (Some(said), None) => said.clone(),
        (None, None) => String::new(),
    }
}
