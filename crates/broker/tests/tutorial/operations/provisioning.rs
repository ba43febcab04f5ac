//! Makes a runtime: the plan, with one step more.

mod create_cluster_configuration;
mod hasty;
mod hello_world;
mod provision_initialization;

use broker::operations::{
    Limits,
    provisioning::{Input, Memory},
};
use engine::{Operation, Plan, Step};

use super::env::Env;
use crate::Details;

/// A runtime, and everything around it.
pub struct Provisioning;

impl Operation for Provisioning {
    const KIND: &'static str = "provision";
    type Input = Input;
    type Data = Details;
    type Memory = Memory;
    type Env = Env;
}

/// What there is besides the provisioner.
#[derive(Clone, Copy)]
pub struct Switches {
    /// Greetings.
    pub greetings: bool,
}

/// What is done for an order.
pub fn plan(limits: &Limits, on: Switches) -> Plan<Provisioning> {
    Plan::within(limits.provisioning)
        .stage("create_runtime")
        .step(provision_initialization::ProvisionInitialization)
        .step(hello_world::HelloWorld.needs("greetings", on.greetings))
        .step(create_cluster_configuration::CreateClusterConfiguration)
}

/// The same plan with a step that does not look first.
pub fn hasty_plan(limits: &Limits, on: Switches) -> Plan<Provisioning> {
    Plan::within(limits.provisioning)
        .stage("create_runtime")
        .step(provision_initialization::ProvisionInitialization)
        .step(hasty::HastyHelloWorld.needs("greetings", on.greetings))
        .step(create_cluster_configuration::CreateClusterConfiguration)
}
