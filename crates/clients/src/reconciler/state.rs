//! How a cluster is, in the Reconciler's words.

use std::{fmt, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

/// How a cluster is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// The runtime's id.
    pub cluster: String,
    /// Counts changes of name, owner and kubeconfig.
    pub cluster_version: i64,
    /// Which configuration this is about.
    pub configuration_version: i64,
    /// How far it is.
    pub status: Status,
    /// Failing components; empty also when the Reconciler sends null or nothing.
    #[serde(default, deserialize_with = "null_is_none")]
    pub failures: Vec<FailingComponent>,
}

/// A part of Kyma that does not work.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FailingComponent {
    /// Its name.
    pub component: String,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

/// How far the Reconciler is with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It has not begun.
    ReconcilePending,
    /// It is at work.
    Reconciling,
    /// Something failed and will be tried again.
    ReconcileErrorRetryable,
    /// It keeps its hands off this cluster.
    ReconcileDisabled,
    /// All is as configured.
    Ready,
    /// It has given up.
    Error,
    /// It has not begun to remove.
    DeletePending,
    /// It is removing.
    Deleting,
    /// Removing failed and will be tried again.
    DeleteErrorRetryable,
    /// It has given up to remove.
    DeleteError,
    /// It is gone.
    Deleted,
    /// Something that we do not know.
    Other(String),
}

/// One status that a cluster had.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Change {
    /// When it began.
    pub started: Timestamp,
    /// How long it held.
    #[serde(deserialize_with = "nanoseconds")]
    pub duration: Duration,
    /// Which one.
    pub status: Status,
}

const WORDS: [(Status, &str); 11] = [
    (Status::ReconcilePending, "reconcile_pending"),
    (Status::Reconciling, "reconciling"),
    (Status::ReconcileErrorRetryable, "reconcile_error_retryable"),
    (Status::ReconcileDisabled, "reconcile_disabled"),
    (Status::Ready, "ready"),
    (Status::Error, "error"),
    (Status::DeletePending, "delete_pending"),
    (Status::Deleting, "deleting"),
    (Status::DeleteErrorRetryable, "delete_error_retryable"),
    (Status::DeleteError, "delete_error"),
    (Status::Deleted, "deleted"),
];

impl Status {
    /// Its word on the wire.
    pub fn word(&self) -> &str {
        match self {
            Self::Other(word) => word,
            known => WORDS.iter().find(|(status, _)| status == known).map_or("", |(_, word)| word),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for Status {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = WORDS.into_iter().find(|(_, known)| *known == word);
        Ok(known.map_or(Self::Other(word), |(status, _)| status))
    }
}

/// A list; none of it when there is a null in its place.
pub(super) fn null_is_none<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn nanoseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let nanoseconds = i64::deserialize(deserializer)?;
    Ok(Duration::from_nanos(nanoseconds.try_into().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_word_and_unknown_ones_are_kept() {
        for (status, word) in WORDS {
            assert_eq!(serde_json::to_value(&status).unwrap(), word);
            assert_eq!(serde_json::from_value::<Status>(word.into()).unwrap(), status);
        }
        let other: Status = serde_json::from_str("\"resting\"").unwrap();
        assert_eq!(other, Status::Other("resting".into()));
        assert_eq!(other.to_string(), "resting");
    }
}
