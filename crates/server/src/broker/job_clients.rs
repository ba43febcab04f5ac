//! Clients of jobs, besides those of the steps: the central services, and accounts that are emptied.

use std::sync::Arc;

use broker::{
    bindings::Bindings,
    instances::Broker,
    jobs::{Aws, Azure, Env},
    operations,
};
use clients::{Component, Gate, aws, azure, cis};

use crate::{
    Settings,
    gates::Gates,
    systems::{aws as aws_section, cis as cis_section},
};

/// Clients of jobs, besides those of the steps.
pub(super) struct JobClients {
    events: Option<cis::Events>,
    aws: Aws,
    azure: Azure,
}

impl JobClients {
    /// With these clients; the public clouds where none is configured.
    pub(super) fn new(
        cis: Option<cis_section::Client>,
        aws: Option<aws_section::Client>,
        azure: Option<azure::Cloud>,
        gates: &Gates,
    ) -> Self {
        let gate = |component: Component| -> Arc<Gate> { gates.gate(component) };
        let (endpoint, market) = aws.map(|aws| (aws.endpoint, aws.market)).unwrap_or_default();
        Self {
            events: cis.and_then(|cis| cis.events),
            aws: Aws { endpoint, market, gate: gate(aws::COMPONENT) },
            azure: Azure {
                cloud: azure.unwrap_or_else(azure::Cloud::public),
                gate: gate(azure::COMPONENT),
                tokens: gate(Component::ISSUER),
            },
        }
    }

    /// All that jobs reach.
    pub(super) fn env(
        self,
        settings: &Settings,
        steps: &operations::Env,
        broker: Broker,
        bindings: Bindings,
    ) -> Env {
        let Self { events, aws, azure } = self;
        Env {
            broker,
            bindings,
            gardener: steps.gardener.clone(),
            account_bindings: steps.settings.account_bindings,
            provisioner: steps.provisioner.clone(),
            events,
            aws,
            azure,
            settings: settings.jobs.settings(),
        }
    }
}
