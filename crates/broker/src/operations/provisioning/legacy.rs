//! Provisioning of the legacy plan: one stage, ordered by weights, in which the provisioner installs Kyma.
//!
//! What a reader would get wrong: ordering the runtime is not the end. The stage then starts over, and its first step
//! waits for the runtime and ends the operation; no other step runs again.

mod avs_configuration_step;
mod create_lms_tenant;
mod create_runtime;
mod ias_registration;
mod initialization;
mod provision_azure_event_hubs;
mod request_lms_certificates;
mod service_manager_overrides;

use engine::{Plan, Step};
use secrecy::SecretString;
use url::Url;

use super::{
    Provisioning, overrides_from_secrets_and_config_step::OverridesFromSecretsAndConfigStep,
    register_with_edp, resolve_target_secret::ResolveTargetSecret,
};
use crate::operations::{
    limits::ProvisioningLimits,
    systems::{System, Systems},
};

/// A certificate that was asked for, and the key that it is for.
pub(super) struct Certificate {
    callback: Url,
    key: SecretString,
}

/// The plan for an order, in the order of the legacy plan.
pub fn plan(limits: &ProvisioningLimits, systems: Systems) -> Plan<Provisioning> {
    Plan::within(limits.provisioning)
        .reaching(systems.iter())
        .stage("provisioning")
        .step(initialization::Initialization.weight(1).waiting_for(limits.runtime * 2))
        .step(ResolveTargetSecret.weight(1).failing_for(limits.accounts))
        .step(
            avs_configuration_step::AvsConfigurationStep
                .weight(1)
                .needs(System::Avs)
                .failing_for(limits.avs * 3),
        )
        .step(
            create_lms_tenant::CreateLmsTenant
                .weight(1)
                .needs(System::Lms)
                .when(create_lms_tenant::is_logged()),
        )
        .step(ias_registration::IasRegistration.weight(1).needs(System::Ias))
        .step(register_with_edp(limits).weight(1))
        .step(
            provision_azure_event_hubs::ProvisionAzureEventHubs.weight(2).needs(System::EventHubs),
        )
        .step(OverridesFromSecretsAndConfigStep.weight(2))
        .step(service_manager_overrides::ServiceManagerOverrides.weight(2))
        .step(
            request_lms_certificates::RequestLmsCertificates
                .weight(4)
                .needs(System::Lms)
                .when(request_lms_certificates::has_tenant()),
        )
        .step(create_runtime::CreateRuntime.weight(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_run_in_the_order_of_the_older_documents() {
        let shape = plan(&ProvisioningLimits::default(), Systems::ALL).check().unwrap().shape;
        assert_eq!(shape.stages.len(), 1);

        let names: Vec<_> = shape.stages[0].steps.iter().map(|step| step.name.as_str()).collect();

        let table = [
            "Initialization",
            "Resolve_Target_Secret",
            "AVS_Configuration_Step",
            "Create_LMS_Tenant",
            "IAS_Registration",
            "EDP_Registration",
            "Provision Azure Event Hubs",
            "Overrides_From_Secrets_And_Config_Step",
            "ServiceManagerOverrides",
            "Request_LMS_Certificates",
            "Create_Runtime",
        ];
        assert_eq!(names, table);
    }
}
