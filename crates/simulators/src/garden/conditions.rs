//! How a Shoot is: its conditions, its constraints, and the one word in its label.

use serde_json::{Value, json};

use super::shoot::{Operation, Shoot, State};

const CONDITIONS: [&str; 5] = [
    "APIServerAvailable",
    "ControlPlaneHealthy",
    "ObservabilityComponentsHealthy",
    "EveryNodeReady",
    "SystemComponentsHealthy",
];
/// The one that comes and goes where they flap.
const FLAPPING: &str = "SystemComponentsHealthy";

/// How the conditions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// All is well.
    True,
    /// It was just changed.
    Progressing,
    /// Something is down.
    False,
}

impl Health {
    fn word(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::Progressing => "Progressing",
            Self::False => "False",
        }
    }

    /// How they are now; nothing if there are none.
    pub(super) fn of(shoot: Shoot<'_>) -> Option<Self> {
        let conditions = shoot.list("/status/conditions");
        let any = |word: &str| conditions.iter().any(|one| one["status"] == word);
        match () {
            () if conditions.is_empty() => None,
            () if any("False") => Some(Self::False),
            () if any("Progressing") || any("Unknown") => Some(Self::Progressing),
            () => Some(Self::True),
        }
    }
}

/// The conditions as they shall be. What does not change keeps its time.
pub(super) fn conditions(shoot: Shoot<'_>, health: Health, asleep: bool, now: &str) -> Vec<Value> {
    CONDITIONS
        .map(|kind| {
            let flaps = health == Health::False && kind != FLAPPING;
            let health = if flaps { Health::True } else { health };
            let (reason, message) = match health {
                Health::True if asleep => {
                    ("ConditionNotChecked", "Shoot cluster has been hibernated.")
                }
                Health::True => ("HealthCheckSucceeded", "All checks succeeded."),
                Health::Progressing => {
                    ("HealthCheckProgressing", "Components are being rolled out.")
                }
                Health::False => ("HealthCheckFailed", "Not all components are available."),
            };
            condition(shoot.list("/status/conditions"), kind, (health.word(), reason, message), now)
        })
        .to_vec()
}

/// What stands in the way of hibernation and maintenance.
pub(super) fn constraints(shoot: Shoot<'_>, hibernation: bool, now: &str) -> Vec<Value> {
    let before = shoot.list("/status/constraints");
    let fine = ("True", "NoProblematicWebhooks", "All webhooks are properly configured.");
    let blocked = (
        "False",
        "ProblematicWebhooks",
        "ValidatingWebhookConfiguration \"landscape\" is problematic: it would keep nodes from joining again.",
    );
    vec![
        condition(before, "HibernationPossible", if hibernation { fine } else { blocked }, now),
        condition(before, "MaintenancePreconditionsSatisfied", fine, now),
    ]
}

fn condition(
    before: &[Value],
    kind: &str,
    (status, reason, message): (&str, &str, &str),
    now: &str,
) -> Value {
    let before = before.iter().find(|one| one["type"] == kind);
    let same = |keys: &[&str]| {
        let new = json!({"status": status, "reason": reason, "message": message});
        before.is_some_and(|before| keys.iter().all(|key| before[*key] == new[*key]))
    };
    let time = |same: bool, key: &str| match before.filter(|_| same) {
        Some(before) => before[key].clone(),
        None => json!(now),
    };
    json!({
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": time(same(&["status"]), "lastTransitionTime"),
        "lastUpdateTime": time(same(&["status", "reason", "message"]), "lastUpdateTime"),
    })
}

/// The word in the label, once there is something to say.
pub(super) fn word(shoot: Shoot<'_>) -> Option<&'static str> {
    let (operation, state, _) = shoot.last()?;
    match state {
        State::Error | State::Failed => Some("unhealthy"),
        State::Pending => Some("progressing"),
        State::Processing if operation == Operation::Create => Some("progressing"),
        // A change of a healthy Shoot does not make it less so.
        State::Processing => None,
        State::Succeeded => Some(match Health::of(shoot)? {
            Health::True => "healthy",
            Health::Progressing => "progressing",
            Health::False => "unhealthy",
        }),
    }
}
