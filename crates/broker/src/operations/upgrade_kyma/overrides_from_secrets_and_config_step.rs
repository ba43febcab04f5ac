//! Collects the overrides that operators keep for the plan and the version.

use super::{UpgradingKyma, creator};
use crate::{
    operations::{
        prelude::*,
        shared::{missing_data, upgrading},
    },
    overrides,
};

pub(super) struct OverridesFromSecretsAndConfigStep;

impl Step<UpgradingKyma> for OverridesFromSecretsAndConfigStep {
    const NAME: &'static str = "Overrides_From_Secrets_And_Config_Step";
    const CALLS: &'static [&'static str] = &["control plane"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(30));

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        let order = upgrading::order(cx)?;
        let version = cx.data.version.as_ref();
        let version = version.ok_or_else(|| missing_data("the version of Kyma is not known"))?;
        let (cluster, namespace) = (&cx.env.control_plane, &cx.env.settings.namespace);
        let plan = &order.plan_name;
        let found = overrides::find(cluster, namespace, plan, &version.version).await?;
        creator(cx)?.overrides().extend(found);
        done()
    }
}
