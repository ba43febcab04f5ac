//! Gives a runtime another version of Kyma, of Kubernetes, or of both: the plan.

mod start_upgrade;

use engine::{Operation, Plan, Step};

use super::{
    Data, Env, Input, Memory,
    shared::{
        bind_credentials::BindCredentials, update_shoot::UpdateShoot,
        wait_for_installation::WaitForInstallation, wait_for_new_version::WaitForNewVersion,
        wait_for_shoot::WaitForShoot, write_authentication::WriteAuthentication,
    },
    with_kyma, with_shoot,
};
use crate::limits::StageLimits;

pub struct Upgrade;

impl Operation for Upgrade {
    const KIND: &'static str = "upgrade";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// The plan.
pub fn plan(limits: &StageLimits) -> Plan<Upgrade> {
    Plan::within(limits.upgrade())
        .stage("UpdatingShoot")
        .step(BindCredentials.failing_for(limits.shoot_refresh).when(with_shoot()))
        .step(WriteAuthentication.failing_for(limits.shoot_refresh).when(with_shoot()))
        .step(UpdateShoot.failing_for(limits.shoot_refresh).when(with_shoot()))
        .stage("WaitingForShootNewVersion")
        .step(
            WaitForNewVersion
                .waiting_for(limits.shoot_refresh)
                .failing_for(limits.shoot_refresh)
                .when(with_shoot()),
        )
        .stage("WaitingForShootUpgrade")
        .step(
            WaitForShoot
                .waiting_for(limits.shoot_upgrade)
                .failing_for(limits.shoot_upgrade)
                .when(with_shoot()),
        )
        .stage("StartingUpgrade")
        .step(start_upgrade::StartUpgrade.failing_for(limits.upgrade_triggering).when(with_kyma()))
        .stage("WaitingForInstallation")
        .step(
            WaitForInstallation
                .waiting_for(limits.installation)
                .failing_for(limits.installation)
                .when(with_kyma()),
        )
}
