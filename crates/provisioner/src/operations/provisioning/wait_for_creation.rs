//! Waits until Gardener has made the cluster.

use clients::gardener::{Problem, Shoot};
use engine::{Cx, Retry, Step, StepResult, done};

use crate::operations::{OnRuntime, for_shoot, needed_shoot, progress, reported, shared::secs};

pub(super) struct WaitForCreation;

impl<O: OnRuntime> Step<O> for WaitForCreation {
    const NAME: &'static str = "Wait_For_Creation";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(20), secs(20)).backing_off(secs(2), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let shoot = needed_shoot(cx).await?;
        if shoot.last_operation().is_some_and(|last| last.state == "Succeeded") {
            return done();
        }
        if let Some(problem) = shoot.problem() {
            let is_final = is_final(&shoot, &problem);
            return reported(&problem, is_final, "cluster provisioning", &shoot);
        }
        for_shoot(cx, format!("the cluster is being made: {}", progress(&shoot))).into()
    }
}

/// A reconciliation that failed is tried again by Gardener; a creation is not.
fn is_final(shoot: &Shoot, problem: &Problem) -> bool {
    let creating = shoot.last_operation().is_some_and(|last| last.kind == "Create");
    creating && problem.is_final()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_creation_fails_for_good_and_a_reconciliation_does_not() {
        let shoot = |kind: &str, code: &str| -> Shoot {
            serde_json::from_value(json!({
                "metadata": {"name": "c-1"},
                "spec": {},
                "status": {
                    "lastOperation": {"type": kind, "state": "Failed", "progress": 40},
                    "lastErrors": [{"description": "it broke", "codes": [code]}],
                },
            }))
            .unwrap()
        };
        let table = [
            ("Create", "ERR_INFRA_QUOTA_EXCEEDED", true),
            ("Create", "ERR_INFRA_RATE_LIMITS_EXCEEDED", false),
            ("Reconcile", "ERR_INFRA_QUOTA_EXCEEDED", false),
        ];

        for (kind, code, expected) in table {
            let shoot = shoot(kind, code);
            assert_eq!(is_final(&shoot, &shoot.problem().unwrap()), expected, "{kind} {code}");
        }
    }
}
