//! A Shoot as the controller reads it.

use kube::{ResourceExt, api::DynamicObject, core::ApiResource};
use serde_json::Value;

use super::{SCENARIO, kinds, scenario::Scenario};

/// The finalizer of the controller.
pub(super) const FINALIZER: &str = "gardener";
/// The label that says how a Shoot is.
pub(super) const STATUS_LABEL: &str = "shoot.gardener.cloud/status";

/// Which kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    Reconcile,
    Delete,
}

impl Operation {
    /// Gardener's word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Reconcile => "Reconcile",
            Self::Delete => "Delete",
        }
    }
}

/// How an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It has not begun.
    Pending,
    Processing,
    Succeeded,
    /// It failed and is retried.
    Error,
    /// It failed and is not retried.
    Failed,
}

/// One Shoot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shoot<'a>(pub(super) &'a DynamicObject);

impl<'a> Shoot<'a> {
    pub(super) fn name(self) -> &'a str {
        self.0.metadata.name.as_deref().unwrap_or_default()
    }

    pub(super) fn text(self, path: &str) -> Option<&'a str> {
        self.0.data.pointer(path)?.as_str().filter(|text| !text.is_empty())
    }

    pub(super) fn list(self, path: &str) -> &'a [Value] {
        self.0.data.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    pub(super) fn flag(self, path: &str) -> bool {
        self.0.data.pointer(path) == Some(&Value::Bool(true))
    }

    pub(super) fn annotation(self, key: &str) -> Option<&'a str> {
        self.0.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }

    pub(super) fn label(self) -> Option<&'a str> {
        self.0.metadata.labels.as_ref()?.get(STATUS_LABEL).map(String::as_str)
    }

    pub(super) fn scenario(self) -> Scenario {
        Scenario::parse(self.annotation(SCENARIO).unwrap_or_default())
    }

    pub(super) fn is_going(self) -> bool {
        self.0.metadata.deletion_timestamp.is_some()
    }

    pub(super) fn is_ours(self) -> bool {
        self.0.finalizers().iter().any(|one| one == FINALIZER)
    }

    pub(super) fn generation(self) -> i64 {
        self.0.metadata.generation.unwrap_or(1)
    }

    /// Whether what is wanted has changed since the last operation began.
    pub(super) fn is_changed(self) -> bool {
        let seen = self.0.data.pointer("/status/observedGeneration").and_then(Value::as_i64);
        seen != Some(self.generation())
    }

    /// Where it stands: nothing before the first operation.
    pub(super) fn last(self) -> Option<(Operation, State, i64)> {
        let last = self.0.data.pointer("/status/lastOperation")?;
        let operation = match last["type"].as_str()? {
            "Delete" => Operation::Delete,
            "Create" => Operation::Create,
            _ => Operation::Reconcile,
        };
        let state = match last["state"].as_str()? {
            "Processing" => State::Processing,
            "Succeeded" => State::Succeeded,
            "Error" => State::Error,
            "Failed" | "Aborted" => State::Failed,
            _ => State::Pending,
        };
        Some((operation, state, last["progress"].as_i64().unwrap_or(0)))
    }

    /// The kind of the next operation: `Create` until one has succeeded.
    pub(super) fn next_operation(self) -> Operation {
        match self.last() {
            _ if self.is_going() => Operation::Delete,
            None => Operation::Create,
            Some((Operation::Create, state, _)) if state != State::Succeeded => Operation::Create,
            Some(_) => Operation::Reconcile,
        }
    }

    pub(super) fn has_addresses(self) -> bool {
        !self.list("/status/advertisedAddresses").is_empty()
    }

    pub(super) fn has_errors(self) -> bool {
        !self.list("/status/lastErrors").is_empty()
    }

    /// Whether it shall sleep.
    pub(super) fn wants_sleep(self) -> bool {
        self.flag("/spec/hibernation/enabled")
    }

    /// Whether it is hibernated.
    pub(super) fn sleeps(self) -> bool {
        self.flag("/status/hibernated")
    }
}

/// How Shoots are addressed.
pub(super) fn resource() -> ApiResource {
    ApiResource {
        group: kinds::CORE.to_owned(),
        version: "v1beta1".to_owned(),
        api_version: format!("{}/v1beta1", kinds::CORE),
        kind: "Shoot".to_owned(),
        plural: "shoots".to_owned(),
    }
}
