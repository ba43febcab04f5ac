//! Makes the agent of a runtime connect anew: the plan.

mod reset_connection;

use engine::{Operation, Plan, Step};

use super::{
    Data, Env, Input, Memory,
    shared::{
        configure_agent::ConfigureAgent, mark_connected::MarkConnected,
        wait_for_agent::WaitForAgent,
    },
};
use crate::limits::StageLimits;

pub struct Reconnection;

impl Operation for Reconnection {
    const KIND: &'static str = "reconnect";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// The plan.
pub fn plan(limits: &StageLimits) -> Plan<Reconnection> {
    Plan::within(limits.reconnection())
        .stage("ConnectRuntimeAgent")
        .step(reset_connection::ResetConnection.failing_for(limits.agent_configuration))
        .step(ConfigureAgent.failing_for(limits.agent_configuration))
        .stage("WaitForAgentToConnect")
        .step(
            WaitForAgent.waiting_for(limits.agent_connection).failing_for(limits.agent_connection),
        )
        .step(MarkConnected.failing_for(limits.agent_connection))
}
