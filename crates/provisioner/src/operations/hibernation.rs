//! Lets a runtime's cluster sleep: the plan.

mod hibernate_shoot;
mod wait_for_hibernation;

use engine::{Operation, Plan, Step};

use super::{Data, Env, Input, Memory};
use crate::limits::StageLimits;

pub struct Hibernation;

impl Operation for Hibernation {
    const KIND: &'static str = "hibernate";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// The plan.
pub fn plan(limits: &StageLimits) -> Plan<Hibernation> {
    Plan::within(limits.hibernation())
        .stage("HibernatingCluster")
        .step(hibernate_shoot::HibernateShoot.failing_for(limits.shoot_refresh))
        .stage("WaitForHibernation")
        .step(
            wait_for_hibernation::WaitForHibernation
                .waiting_for(limits.hibernation)
                .failing_for(limits.hibernation),
        )
}
