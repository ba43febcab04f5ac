//! Finds out which Kyma the order gets, and begins to collect what it is ordered with.

use store::broker::InstanceChange;

use super::Provisioning;
use crate::{
    catalog::names::runtime_name,
    operations::{
        creator::{self, BTP_OPERATOR, Creator},
        prelude::*,
        shared::update_instance,
    },
};

pub(super) struct ProvisionInitialization;

impl Step<Provisioning> for ProvisionInitialization {
    const NAME: &'static str = "Provision_Initialization";
    const CALLS: &'static [&'static str] = &["control plane", "kyma releases"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(2), secs(30)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let order = &cx.input.order;
        // Kept from then on: the stage may start over after operators have changed their minds.
        let version = match &cx.data.runtime_version {
            Some(kept) => kept.clone(),
            None => {
                let asked = order.parameters.kyma_version.as_deref();
                creator::runtime_version(cx.env, order, asked).await?
            }
        };
        let plan = creator::plan_configuration(cx.env, &order.plan_name, &version.version).await?;
        let components = cx.env.components.of(&version.version).await?;
        let mut creator = Creator::new(order, &version.version, components.to_vec(), plan);
        creator.disable(BTP_OPERATOR);
        cx.memory.creator = Some(creator);
        cx.data.runtime_version = Some(version);
        // Of the operation's id, so that a run that was lost had the same name.
        let mut dice = [0; 5];
        dice.copy_from_slice(&cx.root.as_bytes()[11..]);
        cx.data.cluster_name.get_or_insert_with(|| runtime_name(&order.parameters.name, dice));
        let resolved = &order.resolved;
        let change = InstanceChange {
            provider: Some(resolved.provider_word().into()),
            region: Some(resolved.region_word().into()),
            ..InstanceChange::default()
        };
        update_instance(cx, change)?;
        done()
    }
}
