//! Gives the BTP operator its credentials in the configuration that the Reconciler has.

use clients::reconciler::KymaComponent;

use super::{Updating, changed};
use crate::operations::{
    creator::{self, BTP_OPERATOR, Creator},
    prelude::*,
    shared::{
        cluster_id::{self, IfMissing},
        missing_data,
    },
};

pub(super) struct BtpOperatorOverrides;

impl Step<Updating> for BtpOperatorOverrides {
    const NAME: &'static str = "BTPOperatorOverrides";
    const CALLS: &'static [&'static str] =
        &["provisioner", "btp operator", "control plane", "kyma releases"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(2), secs(30)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        // Where the Reconciler has no configuration, there is nothing to put them into.
        if cx.memory.configuration.is_none() {
            return done();
        }
        let cluster = match &cx.data.details.sm_cluster_id {
            Some(kept) => kept.clone(),
            None => {
                let found = cluster_id::in_runtime(cx, IfMissing::Create).await?;
                cx.data.details.sm_cluster_id.insert(found).clone()
            }
        };
        let operator = operator(cx, &cluster).await?;
        let said = cx.input.context.sm_operator_credentials.is_some();
        let Some(configuration) = &mut cx.memory.configuration else { return done() };
        let components = &mut configuration.kyma_config.components;
        let changes = put(components, operator);
        // What was said just now is applied even when it is known: an earlier change may have got half-way.
        cx.memory.requires_reconciler_update |= changes || said;
        done()
    }
}

/// The operator as the Reconciler shall have it.
async fn operator(cx: &Cx<'_, Updating>, cluster: &str) -> Result<KymaComponent, StepError> {
    let order = changed(cx)?;
    let given = order.context.sm_operator_credentials.as_ref();
    let given = given.ok_or_else(|| missing_data("the order has no credentials"))?;
    let version = cx.data.details.runtime_version.as_ref();
    let version = version.ok_or_else(|| missing_data("the version of Kyma is not known"))?;
    let plan = creator::plan_configuration(cx.env, &order.plan_name, &version.version).await?;
    let components = cx.env.components.of(&version.version).await?;
    let mut creator = Creator::new(order, &version.version, components.to_vec(), plan);
    creator.connect_operator(given, cluster);
    let operator = creator.operator(order)?;
    operator.ok_or_else(|| {
        let text = format!("Kyma {} has no component {BTP_OPERATOR}", version.version);
        StepError::transient(Failure::new("kyma releases", "no_operator", text))
    })
}

/// Puts the operator in, and says whether that changes something. Settings of operators that it has besides stay.
fn put(components: &mut Vec<KymaComponent>, mut operator: KymaComponent) -> bool {
    let Some(there) = components.iter_mut().find(|it| it.component == operator.component) else {
        components.push(operator);
        return true;
    };
    let is_said = |key: &str| operator.configuration.iter().any(|setting| setting.key == key);
    let mut kept = there.configuration.clone();
    kept.retain(|setting| !is_said(&setting.key));
    let before = there.clone();
    kept.append(&mut operator.configuration);
    kept.sort_by(|one, other| one.key.cmp(&other.key));
    *there = KymaComponent { configuration: kept, ..operator };
    let mut sorted = before;
    sorted.configuration.sort_by(|one, other| one.key.cmp(&other.key));
    *there != sorted
}
