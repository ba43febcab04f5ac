//! Gives a runtime's cluster other settings: the plan.

use engine::{Operation, Plan, Step};

use super::{
    Data, Env, Input, Memory,
    shared::{
        bind_credentials::BindCredentials, create_bindings::CreateBindings,
        fetch_kubeconfig::FetchKubeconfig, update_shoot::UpdateShoot,
        wait_for_new_version::WaitForNewVersion, wait_for_shoot::WaitForShoot,
        write_authentication::WriteAuthentication,
    },
};
use crate::limits::StageLimits;

pub struct UpgradeShoot;

impl Operation for UpgradeShoot {
    const KIND: &'static str = "upgrade_shoot";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// The plan.
pub fn plan(limits: &StageLimits) -> Plan<UpgradeShoot> {
    Plan::within(limits.upgrade_shoot())
        .stage("UpdatingShoot")
        .step(BindCredentials.failing_for(limits.shoot_refresh))
        .step(WriteAuthentication.failing_for(limits.shoot_refresh))
        .step(UpdateShoot.failing_for(limits.shoot_refresh))
        .stage("WaitingForShootNewVersion")
        .step(WaitForNewVersion.waiting_for(limits.shoot_refresh).failing_for(limits.shoot_refresh))
        .stage("WaitingForShootUpgrade")
        .step(WaitForShoot.waiting_for(limits.shoot_upgrade).failing_for(limits.shoot_upgrade))
        .step(FetchKubeconfig.failing_for(limits.bindings_creation))
        .stage("CreatingBindingsForOperators")
        .step(CreateBindings.failing_for(limits.bindings_creation))
}
