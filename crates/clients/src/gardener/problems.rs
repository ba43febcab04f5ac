//! Gardener's error codes: whether Gardener retries by itself, and whether we go on waiting.

use base::failure::Failure;
use serde::{Deserialize, Deserializer};

use super::Shoot;
use crate::error::Component;

/// A code of Gardener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code(pub String);

impl Code {
    /// Whether Gardener tries again by itself.
    pub fn is_retried(&self) -> bool {
        matches!(
            self.0.as_str(),
            "ERR_RETRYABLE_INFRA_DEPENDENCIES"
                | "ERR_INFRA_RESOURCES_DEPLETED"
                | "ERR_CLEANUP_CLUSTER_RESOURCES"
                | "ERR_RETRYABLE_CONFIGURATION_PROBLEM"
        )
    }

    /// Whether it passes: Gardener gives up on it, and a new try may still succeed.
    pub fn is_passing(&self) -> bool {
        self.is_retried() || self.0 == "ERR_INFRA_RATE_LIMITS_EXCEEDED"
    }
}

/// A problem of a Shoot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Gardener's codes, each once.
    pub codes: Vec<Code>,
    /// For people.
    pub description: String,
    /// Whether Gardener has given up for now.
    pub given_up: bool,
}

impl Problem {
    /// Whether waiting on cannot help.
    pub fn is_final(&self) -> bool {
        self.given_up && !(self.codes.iter().any(Code::is_passing))
    }

    /// As it is stored with an operation: the codes are its reason.
    pub fn failure(&self) -> Failure {
        let codes: Vec<_> = self.codes.iter().map(|code| code.0.as_str()).collect();
        let reason = if codes.is_empty() { "failed".into() } else { codes.join(", ") };
        Failure::new(Component::GARDENER.0, reason, self.description.clone())
    }
}

impl Shoot {
    /// Its problem, if there is one.
    pub fn problem(&self) -> Option<Problem> {
        let last = self.last_operation()?;
        let given_up = last.state == "Failed";
        if !given_up && last.state != "Error" {
            return None;
        }
        let errors = self.status.as_ref().map(|status| status.last_errors.as_slice());
        let errors = errors.unwrap_or_default();
        let mut codes: Vec<Code> = Vec::new();
        for code in errors.iter().flat_map(|error| &error.codes) {
            if !codes.iter().any(|known| known.0 == *code) {
                codes.push(Code(code.clone()));
            }
        }
        let said: Vec<_> = errors.iter().map(|error| error.description.as_str()).collect();
        let description = if said.is_empty() { last.description.clone() } else { said.join("; ") };
        Some(Problem { codes, description, given_up })
    }
}

/// Go writes empty lists as null.
pub(super) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn shoot(state: &str, codes: &Value) -> Shoot {
        serde_json::from_value(json!({
            "metadata": {"name": "c-1"},
            "spec": {},
            "status": {
                "lastOperation": {"type": "Create", "state": state, "progress": 40},
                "lastErrors": [{"description": "it broke", "codes": codes}]
            }
        }))
        .unwrap()
    }

    #[test]
    fn codes_decide_whether_waiting_on_can_help() {
        let quota = shoot("Failed", &json!(["ERR_INFRA_QUOTA_EXCEEDED"])).problem().unwrap();
        let limits = shoot("Failed", &json!(["ERR_INFRA_RATE_LIMITS_EXCEEDED"])).problem().unwrap();
        let unknown = shoot("Failed", &Value::Null).problem().unwrap();
        let trying = shoot("Error", &json!(["ERR_INFRA_QUOTA_EXCEEDED"])).problem().unwrap();

        assert!(quota.is_final());
        assert_eq!(quota.failure().reason, "ERR_INFRA_QUOTA_EXCEEDED");
        assert!(!limits.is_final());
        assert!(unknown.is_final());
        assert!(!trying.is_final());
        assert_eq!(shoot("Processing", &Value::Null).problem(), None);
    }
}
