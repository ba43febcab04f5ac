//! Reports on a Shoot: patches of its status and of the rest of it.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::{
    conditions::{Health, conditions, constraints},
    flow,
    scenario::Trouble,
    settings::Settings,
    shoot::{Operation, Shoot, State},
};

/// What a report needs besides the Shoot.
pub(super) struct Reporter<'a> {
    pub(super) settings: &'a Settings,
    /// Whether the world is without delays.
    pub(super) at_once: bool,
    pub(super) now: String,
}

/// A time as Kubernetes writes it.
pub(super) fn written(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

impl Reporter<'_> {
    fn operation(&self, kind: Operation, state: &str, progress: i64, description: &str) -> Value {
        json!({
            "type": kind.word(),
            "state": state,
            "progress": progress,
            "description": description,
            "lastUpdateTime": self.now,
        })
    }

    pub(super) fn unschedulable(&self, why: &str) -> Value {
        let description = format!("Failed to schedule Shoot: {why}");
        json!({"lastOperation": self.operation(Operation::Create, "Pending", 0, &description)})
    }

    pub(super) fn beginning(&self, shoot: Shoot<'_>, operation: Operation) -> Value {
        let (name, project) = (shoot.name(), &self.settings.project);
        let release = self.settings.version.release();
        let mut status = json!({
            "gardener": {"id": "landscape", "name": "gardenlet", "version": release},
            "technicalID": format!("shoot--{project}--{name}"),
            "uid": shoot.0.metadata.uid,
            "seedName": shoot.text("/spec/seedName"),
            "observedGeneration": shoot.generation(),
            "hibernated": shoot.sleeps(),
            "lastOperation": self.operation(operation, "Processing", 0, flow::beginning(operation)),
        });
        let retried = shoot.last().is_some_and(|(_, state, _)| state == State::Error);
        if !retried || shoot.text("/status/retryCycleStartTime").is_none() {
            status["retryCycleStartTime"] = json!(self.now);
        }
        status
    }

    pub(super) fn progress(
        &self,
        shoot: Shoot<'_>,
        operation: Operation,
        percent: i64,
        description: &str,
        announce: bool,
    ) -> Value {
        let state = if percent == 100 { "Succeeded" } else { "Processing" };
        let mut status =
            json!({"lastOperation": self.operation(operation, state, percent, description)});
        if announce {
            status["advertisedAddresses"] = self.addresses(shoot);
        }
        if percent == 100 && operation != Operation::Delete {
            // A new cluster is looked at for a while before it counts as healthy.
            let fresh = operation == Operation::Create && !self.at_once;
            let health = if fresh { Health::Progressing } else { Health::True };
            self.care(shoot, health, shoot.wants_sleep(), &mut status);
            status["hibernated"] = json!(shoot.wants_sleep());
            status["lastErrors"] = Value::Null;
            status["retryCycleStartTime"] = Value::Null;
        }
        status
    }

    pub(super) fn failure(
        &self,
        operation: Operation,
        trouble: &Trouble,
        state: State,
        why: &str,
    ) -> Value {
        let (state, end) = match state {
            State::Error => ("Error", " Operation will be retried."),
            _ => ("Failed", ""),
        };
        let mut error = json!({
            "description": why,
            "taskID": "Waiting until shoot infrastructure has been reconciled",
            "lastUpdateTime": self.now,
        });
        if !trouble.code.is_empty() {
            error["codes"] = json!([trouble.code]);
        }
        let description = format!("{why}{end}");
        json!({
            "lastOperation": self.operation(operation, state, trouble.at, &description),
            "lastErrors": [error],
        })
    }

    pub(super) fn health(&self, shoot: Shoot<'_>, health: Health) -> Value {
        let mut status = json!({});
        self.care(shoot, health, shoot.sleeps(), &mut status);
        status
    }

    fn care(&self, shoot: Shoot<'_>, health: Health, asleep: bool, status: &mut Value) {
        let possible = !shoot.scenario().hibernation_impossible;
        status["conditions"] = json!(conditions(shoot, health, asleep, &self.now));
        status["constraints"] = json!(constraints(shoot, possible, &self.now));
    }

    pub(super) fn addresses(&self, shoot: Shoot<'_>) -> Value {
        let (name, project) = (shoot.name(), &self.settings.project);
        let domain = shoot.text("/spec/dns/domain").unwrap_or_default();
        let internal = format!("https://api.{name}.{project}.internal.{}", self.settings.domain);
        json!([
            {"name": "external", "url": format!("https://api.{domain}")},
            {"name": "internal", "url": internal},
            {"name": "service-account-issuer", "url": internal},
        ])
    }
}
