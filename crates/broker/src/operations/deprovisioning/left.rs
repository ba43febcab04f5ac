//! The objects left to remove: a list of steps that shrinks as they find their objects gone.
//!
//! What a reader would get wrong: the list is never written by hand. A removal begins with the steps of its plan that may leave
//! something (`or_leave`), and a step is taken off when it is done. A step that a condition keeps from running would stay on it
//! for ever, so conditions of removal steps stand in the steps.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use engine::{
    Cx, Ending, PlannedStep, Retry, Shape, Step, StepResult, plan::StepShape, storage::Snapshot,
};

use super::{
    Data, Deprovisioning, DeprovisioningLimits,
    check_cluster_deregistration::CheckClusterDeregistration,
    check_runtime_removal::CheckRuntimeRemoval, deregister_cluster::DeregisterCluster, legacy,
    plan, remove_runtime::RemoveRuntime,
};
use crate::operations::systems::Systems;

/// A step that removes something: on the list of what is left until it is done. It may fail for as long as the limits say.
pub(super) fn removal<S: Step<Deprovisioning>>(
    step: S,
    limits: &DeprovisioningLimits,
) -> PlannedStep<Deprovisioning> {
    Removal(step).failing_for(limits.failing)
}

/// See [`removal`].
pub(super) struct Removal<S>(pub(super) S);

impl<S: Step<Deprovisioning>> Step<Deprovisioning> for Removal<S> {
    const NAME: &'static str = S::NAME;
    const CALLS: &'static [&'static str] = S::CALLS;
    const RETRY: Retry = S::RETRY;

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let ending = self.0.run(cx).await?;
        if ending == Ending::Done {
            cx.data.gone::<S>();
        }
        Ok(ending)
    }
}

impl Data {
    /// Begins the list: everything that the plan removes.
    pub(super) fn begin(&mut self, plan: &Shape) {
        self.left = removing(plan).map(|step| step.name.clone()).collect();
    }

    /// Marks the object of this step as removed.
    pub(super) fn gone<S: Step<Deprovisioning>>(&mut self) {
        self.left.remove(S::NAME);
    }

    /// Whether the object of this step may still exist.
    pub(super) fn is_left<S: Step<Deprovisioning>>(&self) -> bool {
        self.left.contains(S::NAME)
    }

    /// Whether a cluster that was made for the instance may still be there.
    pub(super) fn cluster_may_exist(&self) -> bool {
        self.is_left::<RemoveRuntime>() || self.is_left::<CheckRuntimeRemoval>()
    }

    /// There is no cluster: nothing has to be ordered, and nothing awaited.
    pub(super) fn cluster_is_gone(&mut self) {
        self.gone::<RemoveRuntime>();
        self.gone::<CheckRuntimeRemoval>();
    }
}

/// Whether something of the cluster may still be there: itself, or what the Reconciler does in it.
pub(in crate::operations) fn keeps_cluster(left: &BTreeSet<String>) -> bool {
    [
        RemoveRuntime::NAME,
        CheckRuntimeRemoval::NAME,
        DeregisterCluster::NAME,
        CheckClusterDeregistration::NAME,
    ]
    .iter()
    .any(|step| left.contains(*step))
}

/// The steps of a plan that remove something.
fn removing(plan: &Shape) -> impl Iterator<Item = &StepShape> {
    plan.all_steps().filter(|step| step.leaves.is_some())
}

/// Whether a removal that has succeeded has left nothing, of what its steps were to remove and of what it noted itself.
pub(crate) fn left_nothing(removal: &Snapshot) -> bool {
    let noted = serde_json::from_slice::<Data>(&removal.data).unwrap_or_default().left;
    removal.incomplete.is_empty() && noted.is_empty()
}

/// The object that a failed step leaves, for people; none for a step that no plan has.
pub(crate) fn what_is_left(step: &str) -> Option<&'static str> {
    static ALL: OnceLock<BTreeMap<String, &'static str>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let plans = [legacy::plan, plan]
            .map(|plan| plan(&DeprovisioningLimits::default(), Systems::ALL).check());
        let shapes = plans.into_iter().flatten().map(|plan| plan.shape);
        let words = |shape: &Shape| -> Vec<_> {
            shape.all_steps().filter_map(|step| Some((step.name.clone(), step.leaves?))).collect()
        };
        shapes.flat_map(|shape| words(&shape)).collect()
    });
    all.get(step).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_but_the_first_and_the_last_has_something_to_remove() {
        let shape = plan(&DeprovisioningLimits::default(), Systems::ALL).check().unwrap().shape;
        let names: Vec<&str> = shape.stages.iter().map(|stage| stage.name.as_str()).collect();

        let left: Vec<&str> = removing(&shape).map(|step| step.name.as_str()).collect();

        assert_eq!(left, names[1..names.len() - 1]);
        assert!(left.iter().all(|step| what_is_left(step).is_some()));
    }

    #[test]
    fn only_what_is_in_the_plan_is_to_be_removed() {
        let mut data = Data::default();

        data.begin(&plan(&DeprovisioningLimits::default(), Systems::NONE).check().unwrap().shape);

        let always = [
            "BTPOperator_Cleanup",
            "Check_Runtime_Removal",
            "Release_Subscription",
            "Remove_Runtime",
        ];
        assert_eq!(data.left.iter().map(String::as_str).collect::<Vec<_>>(), always);
    }

    #[test]
    fn no_step_stays_on_the_list_because_a_condition_keeps_it_from_running() {
        for plan in [plan, legacy::plan] {
            let shape = plan(&DeprovisioningLimits::default(), Systems::ALL).check().unwrap().shape;
            for step in removing(&shape) {
                assert!(step.conditions.is_empty(), "the conditions of {} stand in it", step.name);
            }
        }
    }

    #[test]
    fn an_operation_that_was_stored_before_is_read_and_written_in_the_same_words() {
        let stored = serde_json::json!({
            "left": ["Remove_Runtime", "EDP_Deregistration"],
            "removals": ["17"],
            "services_going_since": "2023-02-01T10:00:00Z",
            "removal_failing_since": "2023-02-01T10:00:00Z",
            "removal_awaited_since": "2023-02-01T10:00:00Z",
            "release_failing_since": "2023-02-01T10:00:00Z",
            "waited_for_by": "2f7e1fd0-6b41-4d1b-9dbb-6c5f0b1c4e1d",
        });

        let data: Data = serde_json::from_value(stored.clone()).unwrap();
        let written = serde_json::to_value(&data).unwrap();

        assert!(data.cluster_may_exist() && !data.is_left::<CheckRuntimeRemoval>());
        let fields = stored.as_object().unwrap().iter().filter(|(name, _)| *name != "left");
        assert!(fields.clone().all(|(name, value)| written[name] == *value), "{written}");
        assert_eq!(written["left"], serde_json::json!(["EDP_Deregistration", "Remove_Runtime"]));
    }
}
