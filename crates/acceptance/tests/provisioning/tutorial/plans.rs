//! The broker's plans, with the tutorial's steps in them.

use broker::operations::{
    Env, Limits,
    deprovisioning::{self, Deprovisioning, Systems},
    provisioning::{self, Provisioning, Switches},
};
use engine::{Plan, Step};

use super::{goodbye_world::GoodbyeWorld, greetings::Greetings, hello_world::HelloWorld};

/// What is done for an order: all that the broker does, and a greeting.
pub(super) fn making(limits: &Limits, env: &Env, greetings: Greetings) -> Plan<Provisioning> {
    provisioning::plan(limits, Switches::of(env))
        .step_after("Init_Kyma_Template", HelloWorld { greetings })
}

/// What is done with an instance that goes: all that the broker does, and the greeting goes too.
pub(super) fn removing(
    limits: &deprovisioning::Limits,
    env: &Env,
    greetings: Greetings,
) -> Plan<Deprovisioning> {
    let goodbye = GoodbyeWorld { greetings }.failing_for(limits.failing).or_skip();
    deprovisioning::plan(limits, Systems::of(env)).stage_before(
        "Remove_Runtime",
        "Goodbye_World",
        goodbye,
    )
}
