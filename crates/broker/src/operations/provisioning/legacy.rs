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
    Provisioning, Switches, edp_registration::EdpRegistration,
    overrides_from_secrets_and_config_step::OverridesFromSecretsAndConfigStep,
    resolve_target_secret::ResolveTargetSecret,
};
use crate::operations::{env::Env, limits::Limits};

/// A certificate that was asked for, and the key that it is for.
pub(super) struct Certificate {
    callback: Url,
    key: SecretString,
}

/// The systems that only the legacy plans call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegacySwitches {
    /// Logging.
    pub lms: bool,
    /// Identities.
    pub ias: bool,
    /// Managed Kafka.
    pub event_hubs: bool,
}

impl LegacySwitches {
    /// Everything.
    pub const ALL: Self = Self { lms: true, ias: true, event_hubs: true };

    /// What steps can reach.
    pub fn of(env: &Env) -> Self {
        Self {
            lms: env.lms.is_some(),
            ias: env.ias.is_some(),
            event_hubs: env.event_hubs.is_some(),
        }
    }
}

/// What is done for an order, in the order of the legacy plan.
pub fn plan(limits: &Limits, on: Switches, legacy: LegacySwitches) -> Plan<Provisioning> {
    let edp = EdpRegistration.weight(1).needs("edp", on.edp).failing_for(limits.edp);
    let edp = if on.edp_required { edp } else { edp.or_skip() };
    Plan::within(limits.provisioning)
        .stage("provisioning")
        .step(initialization::Initialization.weight(1).waiting_for(limits.runtime * 2))
        .step(ResolveTargetSecret.weight(1).failing_for(limits.accounts))
        .step(
            avs_configuration_step::AvsConfigurationStep
                .weight(1)
                .needs("avs", on.avs)
                .failing_for(limits.avs * 3),
        )
        .step(
            create_lms_tenant::CreateLmsTenant
                .weight(1)
                .needs("lms", legacy.lms)
                .when(create_lms_tenant::is_logged()),
        )
        .step(ias_registration::IasRegistration.weight(1).needs("ias", legacy.ias))
        .step(edp)
        .step(
            provision_azure_event_hubs::ProvisionAzureEventHubs
                .weight(2)
                .needs("azure", legacy.event_hubs),
        )
        .step(OverridesFromSecretsAndConfigStep.weight(2))
        .step(service_manager_overrides::ServiceManagerOverrides.weight(2))
        .step(
            request_lms_certificates::RequestLmsCertificates
                .weight(4)
                .needs("lms", legacy.lms)
                .when(request_lms_certificates::has_tenant()),
        )
        .step(create_runtime::CreateRuntime.weight(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_run_in_the_order_of_the_older_documents() {
        let shape = plan(&Limits::default(), Switches::ALL, LegacySwitches::ALL).check();
        let shape = shape.unwrap().shape;
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
