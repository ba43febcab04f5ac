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
    Deprovisioning, DeprovisioningLimits, deprovision_avs_evaluations, edp_deregistration,
    ias_deregistration, removal,
};
use crate::operations::systems::{System, Systems};

/// The plan for every instance, in the order of the legacy plan.
pub fn plan(limits: &DeprovisioningLimits, systems: Systems) -> Plan<Deprovisioning> {
    let DeprovisioningLimits { failing, runtime, .. } = *limits;
    Plan::within(limits.operation)
        .reaching(systems.iter())
        .stage("deprovisioning")
        .step(
            deprovision_initialization::DeprovisionInitialization {
                patience: patience(failing),
                runtime,
            }
            .weight(1)
            .failing_for(failing)
            .waiting_for(runtime * 2),
        )
        .step(
            removal(deprovision_azure_event_hubs::DeprovisionAzureEventHubs, limits)
                .weight(1)
                .waiting_for(limits.services * 2)
                .or_leave("the resource group with the event hubs"),
        )
        .step(
            removal(deprovision_avs_evaluations::DeprovisionAvsEvaluations, limits)
                .weight(1)
                .needs(System::Avs)
                .or_leave("evaluations in the availability service"),
        )
        .step(
            removal(ias_deregistration::IasDeregistration, limits)
                .weight(1)
                .needs(System::Ias)
                .or_leave("service providers in identity authentication"),
        )
        .step(
            removal(edp_deregistration::EdpDeregistration, limits)
                .weight(1)
                .needs(System::Edp)
                .or_leave("the data tenant in the event data platform"),
        )
        .step(
            removal(remove_runtime::RemoveRuntime { patience: patience(failing) }, limits)
                .weight(10)
                .waiting_for(runtime)
                .or_leave("the cluster"),
        )
}

/// How long a step fails before it leaves its work over by itself: the engine would fail the operation a last call later.
fn patience(failing: Duration) -> Duration {
    failing * 4 / 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_older_document() {
        let shape = plan(&DeprovisioningLimits::default(), Systems::ALL).check().unwrap().shape;

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
        let shape = plan(&DeprovisioningLimits::default(), Systems::ALL).check().unwrap().shape;

        for step in &shape.stages[0].steps {
            assert!(step.retry.failing_for <= Duration::from_mins(5), "{}", step.name);
        }
    }
}
