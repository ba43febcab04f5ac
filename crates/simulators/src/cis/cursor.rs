//! Where a reader of events is: bound to what it asked for, and good for a while.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::events::Question;

/// A place in the answer to a question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Cursor {
    pub(super) question: Question,
    /// Time and number of the last event that was read.
    pub(super) after: (i64, usize),
    /// When it was given, in milliseconds.
    pub(super) given: i64,
}

impl Cursor {
    pub(super) fn write(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()
    }
}
