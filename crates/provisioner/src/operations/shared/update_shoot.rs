//! Gives the Shoot the wanted settings, and stores them once Gardener has accepted them.
//!
//! What a reader would get wrong: a Shoot that has them already is not left alone. Gardener may have failed with them
//! before, so it is made to try once more. The issuer in a `ConfigMap` that is in force comes last: what Gardener refuses
//! leaves it as it was.

use std::collections::BTreeMap;

use base::Failure;
use clients::{
    error::Component,
    gardener::{OPERATION_ANNOTATION as GARDENER_OPERATION, Shoot},
};
use engine::{Cx, Retry, Step, StepError, StepResult, done};
use serde_json::{Value, json};
use store::provisioner::RuntimeChange;

use super::{secs, write_authentication::follow_up};
use crate::{
    operations::{OnRuntime, as_step_error, needed_shoot, note_warnings, stored},
    shoots::{self, LEGACY_OPERATION_ANNOTATION, OPERATION_ANNOTATION},
};

pub(in crate::operations) struct UpdateShoot;

impl<O: OnRuntime> Step<O> for UpdateShoot {
    const NAME: &'static str = "Update_Shoot";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let live = needed_shoot(cx).await?;
        if live.is_asleep() {
            let text = format!("the Shoot {} is hibernated: wake it up first", live.name());
            let failure = Failure::new(Component::GARDENER.0, "Hibernated", text);
            return Err(StepError::fatal(failure));
        }
        let mut document = cx.input.document.clone();
        shoots::keep_higher_versions(&live, &mut document.configuration.cluster);
        cx.data.notes = cx.input.requested.below(&document.configuration.cluster);
        let features = cx.env.gardener.features().await.map_err(as_step_error)?;
        let runtime = cx.input.target.runtime.to_string();
        let change = shoots::change(&live, &document.configuration, &runtime, &features);
        let changed = match patch(&live, change, &cx.root.to_string()) {
            Some(patch) => {
                let name = &cx.input.target.shoot;
                cx.env.gardener.merge(name, &patch).await.map_err(as_step_error)?
            }
            None => live,
        };
        note_warnings(cx, &changed);
        let changed = follow_up(cx, changed).await?;
        cx.data.generation = changed.metadata.generation;
        let document = Some(stored(&document)?);
        cx.change(&RuntimeChange { document, ..RuntimeChange::default() })?;
        done()
    }
}

/// The patch for Gardener; none when an earlier run of the operation has applied it.
fn patch(live: &Shoot, change: Option<Value>, operation: &str) -> Option<Value> {
    if change.is_none() && live.annotation(OPERATION_ANNOTATION) == Some(operation) {
        return None;
    }
    let mut annotations = BTreeMap::from(
        [OPERATION_ANNOTATION, LEGACY_OPERATION_ANNOTATION].map(|key| (key, operation)),
    );
    if change.is_none() {
        annotations.insert(GARDENER_OPERATION, live.next_try());
    }
    let mut patch = change.unwrap_or_else(|| json!({}));
    // Lists are written whole: not over a concurrent change.
    patch["metadata"] = json!({
        "resourceVersion": live.metadata.resource_version,
        "annotations": annotations,
    });
    Some(patch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clients::gardener::Features;

    use crate::{
        checking::tests::samples::{self, checked},
        configuration::Configuration,
        shoots::{Owner, Rules},
    };

    /// A Shoot as it was made, in this state.
    fn live(configuration: &Configuration, state: &str) -> Shoot {
        let owner =
            Owner { tenant: "ga-1", subaccount: "sa-1", runtime_id: "r", operation_id: "first" };
        let rules = Rules::default();
        let mut shoot = shoots::build(configuration, &owner, &rules, &Features::oldest());
        shoot.metadata.resource_version = Some("17".into());
        let last = json!({"lastOperation": {"type": "Reconcile", "state": state}});
        shoot.status = Some(serde_json::from_value(last).unwrap());
        shoot
    }

    fn patch(live: &Shoot, wanted: &Configuration, operation: &str) -> Option<Value> {
        let change = shoots::change(live, wanted, "r", &Features::oldest());
        super::patch(live, change, operation)
    }

    #[test]
    fn a_change_lands_only_on_what_was_read_and_says_who_made_it() {
        let mut configuration = checked(samples::aws());
        let live = live(&configuration, "Succeeded");
        configuration.cluster.auto_scaler_max += 1;

        let patch = patch(&live, &configuration, "second").unwrap();

        assert!(patch["spec"].is_object());
        let annotations =
            json!({OPERATION_ANNOTATION: "second", LEGACY_OPERATION_ANNOTATION: "second"});
        let metadata = json!({"resourceVersion": "17", "annotations": annotations});
        assert_eq!(patch["metadata"], metadata);
    }

    #[test]
    fn where_nothing_changes_gardener_is_told_once_to_try_again() {
        let configuration = checked(samples::aws());
        let word = |state: &str| {
            let patch = patch(&live(&configuration, state), &configuration, "second").unwrap();
            assert_eq!(patch.get("spec"), None);
            patch["metadata"]["annotations"][GARDENER_OPERATION].clone()
        };

        assert_eq!((word("Succeeded"), word("Error")), (json!("reconcile"), json!("reconcile")));
        assert_eq!(word("Failed"), "retry");
        assert_eq!(patch(&live(&configuration, "Failed"), &configuration, "first"), None);
    }
}
