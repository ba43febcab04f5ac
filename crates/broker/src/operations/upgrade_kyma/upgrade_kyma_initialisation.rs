//! Reads the instance, finds out which Kyma it gets, and begins to collect what that consists of.

use engine::finish;

use super::UpgradingKyma;
use crate::operations::{
    creator::{self, BTP_OPERATOR, Creator},
    prelude::*,
    shared::{PREVIEW, instance::refused, upgrading},
};

pub(super) struct UpgradeKymaInitialisation;

impl Step<UpgradingKyma> for UpgradeKymaInitialisation {
    const NAME: &'static str = "Upgrade_Kyma_Initialisation";
    const CALLS: &'static [&'static str] = &["control plane", "kyma releases"];
    const RETRY: Retry = Retry::DEFAULT
        .polling(millis(500), secs(15))
        .closely()
        .waiting_for(mins(30))
        .backing_off(secs(2), secs(30))
        .failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        if let Some(waits) = upgrading::begin(cx).await? {
            return waits.into();
        }
        if cx.data.applied {
            return done();
        }
        let order = upgrading::order(cx)?;
        if order.plan_name == PREVIEW {
            return finish(
                "the plan has no Kyma from the Reconciler, so there is nothing to upgrade",
            );
        }
        if cx.env.reconciler.is_none() {
            let text = "no Reconciler is configured that could upgrade Kyma";
            return Err(refused("no_reconciler", text));
        }
        // Kept from then on: the stage may start over after operators have changed their minds.
        let version = match &cx.data.version {
            Some(kept) => kept.clone(),
            None => creator::runtime_version(cx.env, order, cx.input.version.as_deref()).await?,
        };
        let plan = creator::plan_configuration(cx.env, &order.plan_name, &version.version).await?;
        let components = cx.env.components.of(&version.version).await?;
        let mut creator = Creator::new(order, &version.version, components.to_vec(), plan);
        creator.disable(BTP_OPERATOR);
        cx.memory.creator = Some(creator);
        cx.data.version = Some(version);
        done()
    }
}
