//! Collects the overrides that operators keep for the plan and the version.

use super::Provisioning;
use crate::{
    operations::{
        prelude::*,
        shared::{creator, missing_data},
    },
    overrides,
};

pub(super) struct OverridesFromSecretsAndConfigStep;

impl Step<Provisioning> for OverridesFromSecretsAndConfigStep {
    const NAME: &'static str = "Overrides_From_Secrets_And_Config_Step";
    const CALLS: &'static [&'static str] = &["control plane"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(30));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let order = &cx.input.order;
        let asked = order.parameters.overrides_version.as_deref();
        let kept = cx.data.runtime_version.as_ref().map(|kept| kept.version.as_str());
        let version = asked.filter(|version| !version.is_empty()).or(kept);
        let version = version.ok_or_else(|| missing_data("the version of Kyma is not known"))?;
        let (cluster, namespace) = (&cx.env.control_plane, &cx.env.settings.namespace);
        let found = overrides::find(cluster, namespace, &order.plan_name, version).await?;
        creator(cx)?.overrides().extend(found);
        done()
    }
}
