//! The legacy plan: one stage, ordered by weight. Off unless the settings say `legacy`.
//!
//! What a reader would get wrong: the stage is gone through twice. The last step orders the removal of the cluster and
//! starts over; the first step then waits for it, releases the account and forgets the instance.

mod deprovision_azure_event_hubs;
mod deprovision_initialization;
mod remove_runtime;

use std::time::Duration;

use engine::{Plan, Step};

use super::{
    Deprovisioning, Limits, RUNTIME_STEPS, Systems, deprovision_avs_evaluations,
    edp_deregistration, ias_deregistration, release_subscription,
};

/// What is done with every instance, in the order of the legacy plan.
pub fn plan(limits: &Limits, systems: Systems) -> Plan<Deprovisioning> {
    let Limits { failing, runtime, .. } = *limits;
    Plan::within(limits.operation)
        .stage("deprovisioning")
        .step(
            deprovision_initialization::DeprovisionInitialization {
                steps: steps(systems),
                patience: patience(failing),
                runtime,
            }
            .weight(1)
            .failing_for(failing)
            .waiting_for(runtime * 2),
        )
        .step(
            deprovision_azure_event_hubs::DeprovisionAzureEventHubs
                .weight(1)
                .failing_for(failing)
                .waiting_for(limits.services * 2)
                .or_skip(),
        )
        .step(
            deprovision_avs_evaluations::DeprovisionAvsEvaluations
                .weight(1)
                .needs("avs", systems.avs)
                .failing_for(failing)
                .or_skip(),
        )
        .step(
            ias_deregistration::IasDeregistration
                .weight(1)
                .needs("ias", systems.ias)
                .failing_for(failing)
                .or_skip(),
        )
        .step(
            edp_deregistration::EdpDeregistration
                .weight(1)
                .needs("edp", systems.edp)
                .failing_for(failing)
                .or_skip(),
        )
        .step(
            remove_runtime::RemoveRuntime { patience: patience(failing) }
                .weight(10)
                .failing_for(failing)
                .waiting_for(runtime)
                .or_skip(),
        )
}

/// How long a step fails before it leaves its work over by itself: the engine would fail the operation a last call later.
fn patience(failing: Duration) -> Duration {
    failing * 4 / 5
}

/// The steps that have something to remove.
fn steps(systems: Systems) -> Vec<&'static str> {
    use Step as S;
    type D = Deprovisioning;
    let all = [
        (<deprovision_azure_event_hubs::DeprovisionAzureEventHubs as S<D>>::NAME, true),
        (<deprovision_avs_evaluations::DeprovisionAvsEvaluations as S<D>>::NAME, systems.avs),
        (<ias_deregistration::IasDeregistration as S<D>>::NAME, systems.ias),
        (<edp_deregistration::EdpDeregistration as S<D>>::NAME, systems.edp),
        (RUNTIME_STEPS[0], true),
        (RUNTIME_STEPS[1], true),
        (<release_subscription::ReleaseSubscription as S<D>>::NAME, true),
    ];
    all.into_iter().filter_map(|(name, on)| on.then_some(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_older_document() {
        let shape = plan(&Limits::default(), Systems::ALL).check().unwrap().shape;

        assert_eq!(shape.stages.len(), 1);
        let names: Vec<&str> = shape.stages[0].steps.iter().map(|s| s.name.as_str()).collect();
        let document = [
            "Deprovision_Initialization",
            "Deprovision Azure Event Hubs",
            "De-provision_AVS_Evaluations",
            "IAS_Deregistration",
            "EDP_Deregistration",
            "Remove_Runtime",
        ];
        assert_eq!(names, document);
    }

    #[test]
    fn no_step_fails_for_longer_than_five_minutes() {
        let shape = plan(&Limits::default(), Systems::ALL).check().unwrap().shape;

        for step in &shape.stages[0].steps {
            assert!(step.retry.failing_for <= Duration::from_mins(5), "{}", step.name);
        }
    }
}
