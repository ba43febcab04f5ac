//! Where an operation stands: all that `decide` reads and writes, and the hot row stores.

use std::{collections::BTreeMap, fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The state of an operation. The strings are stored and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// Accepted; its first step is not done.
    #[serde(rename = "pending")]
    Pending,
    /// Its steps run.
    #[serde(rename = "in progress")]
    InProgress,
    /// Ended well. Final.
    #[serde(rename = "succeeded")]
    Succeeded,
    /// Ended badly. Final.
    #[serde(rename = "failed")]
    Failed,
    /// Ended by request. Final.
    #[serde(rename = "canceled")]
    Canceled,
}

impl State {
    /// All states.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::InProgress, Self::Succeeded, Self::Failed, Self::Canceled];

    /// Whether nothing can follow.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }

    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in progress",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for State {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == word)
            .ok_or_else(|| UnknownWord(word.into()))
    }
}

/// A stored word that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a word this version knows")]
pub struct UnknownWord(pub String);

/// How long a step has been failing, and waiting. Kept per step, because a stage that starts over
/// must not give a failing step its time back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepClock {
    /// Cleared by done and by wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    /// Cleared by done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_since: Option<Timestamp>,
}

/// Where an operation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Its state.
    pub state: State,
    /// The stage that is open, by name; `None` before the first run and after the end.
    pub stage: Option<String>,
    /// The step that runs next, by name.
    pub step: Option<String>,
    /// Stages that are finished for good.
    pub closed: Vec<String>,
    /// Steps that were executed but not completed, as `stage/step`.
    pub incomplete: Vec<String>,
    /// The clocks of the open stage's steps.
    pub clocks: BTreeMap<String, StepClock>,
    /// When it left `pending`; the operation's limit counts from here.
    pub started_at: Option<Timestamp>,
    /// When it became final.
    pub ended_at: Option<Timestamp>,
    /// Why it waits, or what it said last.
    pub note: Option<String>,
    /// The last failure, kept until a step is done.
    pub failure: Option<base::Failure>,
}

impl Position {
    /// Where every operation begins; `closed` is not empty when it continues another one.
    pub fn beginning(closed: Vec<String>) -> Self {
        Self {
            state: State::Pending,
            stage: None,
            step: None,
            closed,
            incomplete: Vec::new(),
            clocks: BTreeMap::new(),
            started_at: None,
            ended_at: None,
            note: None,
            failure: None,
        }
    }

    /// The clock of one step.
    pub fn clock(&self, step: &str) -> StepClock {
        self.clocks.get(step).copied().unwrap_or_default()
    }
}
