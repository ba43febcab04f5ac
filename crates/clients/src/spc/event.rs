//! A maintenance event in the service's words.

use jiff::{Timestamp, tz::TimeZone};
use serde::{Serialize, Serializer};

/// Maintenance of some runtimes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The orchestration, by which the event is known.
    pub orchestration_id: String,
    /// The event type.
    pub event_type: EventType,
    /// The runtimes.
    pub tenants: Vec<Tenant>,
}

/// The type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum EventType {
    /// Kubernetes is upgraded.
    #[serde(rename = "0")]
    Cluster,
    /// Kyma is upgraded.
    #[serde(rename = "1")]
    Kyma,
}

/// One runtime, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// The instance.
    pub instance_id: String,
    /// When it begins or began.
    #[serde(
        rename = "startDateTime",
        serialize_with = "plain",
        skip_serializing_if = "Option::is_none"
    )]
    pub starts_at: Option<Timestamp>,
    /// When it ends or ended.
    #[serde(
        rename = "endDateTime",
        serialize_with = "plain",
        skip_serializing_if = "Option::is_none"
    )]
    pub ends_at: Option<Timestamp>,
    /// How far it is.
    #[serde(rename = "eventState", skip_serializing_if = "Option::is_none")]
    pub state: Option<TenantState>,
}

/// How far a runtime is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum TenantState {
    /// It is being changed.
    #[serde(rename = "1")]
    UnderMaintenance,
    /// It is done.
    #[serde(rename = "2")]
    Finished,
    /// It was left alone.
    #[serde(rename = "3")]
    Cancelled,
}

impl Tenant {
    /// A runtime that will be changed between two times.
    pub fn planned(instance_id: &str, from: Timestamp, until: Option<Timestamp>) -> Self {
        Self { instance_id: instance_id.into(), starts_at: Some(from), ends_at: until, state: None }
    }

    /// A runtime that is being changed since `at`.
    pub fn begun(instance_id: &str, at: Timestamp) -> Self {
        let state = Some(TenantState::UnderMaintenance);
        Self { instance_id: instance_id.into(), starts_at: Some(at), ends_at: None, state }
    }

    /// A runtime that is done since `at`, well or not.
    pub fn finished(instance_id: &str, at: Timestamp) -> Self {
        let state = Some(TenantState::Finished);
        Self { instance_id: instance_id.into(), starts_at: None, ends_at: Some(at), state }
    }

    /// A runtime that was announced and will be left alone.
    pub fn cancelled(instance_id: &str) -> Self {
        let state = Some(TenantState::Cancelled);
        Self { instance_id: instance_id.into(), starts_at: None, ends_at: None, state }
    }
}

/// The service takes times without a zone; they are all in UTC.
#[expect(clippy::ref_option, reason = "serde hands out a reference to the field")]
fn plain<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = at.map(|at| at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string());
    text.unwrap_or_default().serialize(serializer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_runtime_says_only_what_is_known_about_it() {
        let at: Timestamp = "2023-04-01T22:00:00.5Z".parse().unwrap();

        let tenants =
            [Tenant::planned("i", at, None), Tenant::begun("i", at), Tenant::finished("i", at)];

        let time = "2023-04-01 22:00:00";
        let expected = json!([
            { "instanceId": "i", "startDateTime": time },
            { "instanceId": "i", "startDateTime": time, "eventState": "1" },
            { "instanceId": "i", "endDateTime": time, "eventState": "2" },
        ]);
        assert_eq!(serde_json::to_value(tenants).unwrap(), expected);
    }
}
