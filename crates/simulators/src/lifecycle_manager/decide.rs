//! Decides the next change of a Kyma from the object alone.

use std::time::Duration;

use kube::{ResourceExt, api::DynamicObject};

use super::{FINALIZER, SKIP, Settings, scenario::Scenario};

/// Something to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Puts the finalizer on.
    Hold,
    /// Says that work has begun.
    Begin,
    /// Looks for the kubeconfig and says how the modules are.
    Look,
    /// Says that an error has come by itself.
    Fail,
    /// Says that it is being deleted.
    BeginDeleting,
    /// Takes the finalizer off.
    LetGo,
}

/// The next thing to do, and after how long at the watchable speed.
pub(super) fn decide(kyma: &DynamicObject, settings: &Settings) -> Option<(Act, Duration)> {
    let scenario = Scenario::of(kyma);
    if scenario.silent || kyma.labels().get(SKIP).is_some_and(|value| value == "true") {
        return None;
    }
    let pace = |time: Duration| if scenario.slow { time * 5 } else { time };
    let state = kyma.data["status"]["state"].as_str().unwrap_or_default();
    let held = kyma.finalizers().iter().any(|one| one == FINALIZER);
    if kyma.metadata.deletion_timestamp.is_some() {
        return match state {
            _ if !held => None,
            "Deleting" if scenario.stuck_delete => None,
            "Deleting" => Some((Act::LetGo, pace(settings.deleting))),
            _ => Some((Act::BeginDeleting, Duration::ZERO)),
        };
    }
    match state {
        _ if !held => Some((Act::Hold, Duration::ZERO)),
        "" | "Deleting" => Some((Act::Begin, Duration::ZERO)),
        "Processing" => Some((Act::Look, pace(settings.processing))),
        "Error" => Some((Act::Look, settings.after_error)),
        "Warning" => Some((Act::Look, settings.after_warning)),
        _ if changed(kyma) => Some((Act::Begin, Duration::ZERO)),
        _ if scenario.flapping => Some((Act::Fail, settings.after_warning)),
        _ if scenario.error || scenario.warning => Some((Act::Look, Duration::ZERO)),
        _ => None,
    }
}

/// Whether the controller leaves a Kyma alone. One that is in an error is looked at again and again, and stays
/// as it is until something else changes.
pub(crate) fn is_at_rest(kyma: &DynamicObject, settings: &Settings) -> bool {
    let wrong = matches!(kyma.data["status"]["state"].as_str(), Some("Error" | "Warning"));
    match decide(kyma, settings) {
        None => true,
        Some((act, _)) => act == Act::Look && wrong,
    }
}

/// Whether something else is wanted than what is there.
fn changed(kyma: &DynamicObject) -> bool {
    kyma.data["status"]["activeChannel"] != kyma.data["spec"]["channel"]
        || wanted(kyma) != present(kyma)
}

/// The modules that are wanted, each with its channel.
pub(super) fn wanted(kyma: &DynamicObject) -> Vec<(&str, &str)> {
    let usual = kyma.data["spec"]["channel"].as_str().unwrap_or_default();
    let modules = kyma.data["spec"]["modules"].as_array().into_iter().flatten();
    modules
        .filter_map(|module| {
            Some((module["name"].as_str()?, module["channel"].as_str().unwrap_or(usual)))
        })
        .collect()
}

fn present(kyma: &DynamicObject) -> Vec<(&str, &str)> {
    let modules = kyma.data["status"]["modules"].as_array().into_iter().flatten();
    modules
        .filter_map(|module| Some((module["name"].as_str()?, module["channel"].as_str()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn kyma(metadata: &Value, status: &Value) -> DynamicObject {
        let mut whole = json!({
            "apiVersion": "operator.kyma-project.io/v1beta2", "kind": "Kyma",
            "metadata": {"name": "k"},
            "spec": {"channel": "regular", "modules": [{"name": "istio"}]},
            "status": status,
        });
        for (key, value) in metadata.as_object().unwrap() {
            whole["metadata"][key] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn a_kyma_goes_its_way_by_what_stands_in_it() {
        let held = json!({"finalizers": [FINALIZER]});
        let going = json!({"finalizers": [FINALIZER], "deletionTimestamp": "2026-01-01T12:00:00Z"});
        let ready = json!({
            "state": "Ready", "activeChannel": "regular",
            "modules": [{"name": "istio", "channel": "regular"}],
        });
        let other = json!({"state": "Ready", "activeChannel": "regular", "modules": []});
        let table = [
            (json!({}), json!({}), Some(Act::Hold)),
            (held.clone(), json!({}), Some(Act::Begin)),
            (held.clone(), json!({"state": "Processing"}), Some(Act::Look)),
            (held.clone(), json!({"state": "Error"}), Some(Act::Look)),
            (held.clone(), ready.clone(), None),
            (held, other, Some(Act::Begin)),
            (going.clone(), ready, Some(Act::BeginDeleting)),
            (going, json!({"state": "Deleting"}), Some(Act::LetGo)),
        ];

        for (metadata, status, act) in table {
            let kyma = kyma(&metadata, &status);
            let decided = decide(&kyma, &Settings::default());
            assert_eq!(decided.map(|(act, _)| act), act, "{kyma:?}");
        }
    }

    #[test]
    fn a_kyma_that_shall_be_skipped_is_left_alone() {
        let skipped = kyma(&json!({"labels": {SKIP: "true"}}), &json!({}));
        let silent = kyma(&json!({"annotations": {super::super::SCENARIO: "silent"}}), &json!({}));
        let going = json!({
            "finalizers": [FINALIZER], "deletionTimestamp": "2026-01-01T12:00:00Z",
            "annotations": {super::super::SCENARIO: "stuck-delete"},
        });
        let stuck = kyma(&going, &json!({"state": "Deleting"}));

        for kyma in [skipped, silent, stuck] {
            assert_eq!(decide(&kyma, &Settings::default()), None);
        }
    }
}
