//! Gives the BTP operator its credentials, and has it installed.

use super::{UpgradingKyma, creator};
use crate::operations::{
    prelude::*,
    shared::{
        cluster_id::{self, IfMissing},
        missing_data,
    },
};

pub(super) struct BtpOperatorOverrides;

impl Step<UpgradingKyma> for BtpOperatorOverrides {
    const NAME: &'static str = "BTPOperatorOverrides";
    const CALLS: &'static [&'static str] = &["provisioner", "btp operator"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(2), secs(30)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        let order = cx.data.order.as_ref();
        let given = order.and_then(|order| order.context.sm_operator_credentials.clone());
        let given = given.ok_or_else(|| missing_data("the order has no credentials"))?;
        let cluster = match &cx.data.details.sm_cluster_id {
            Some(kept) => kept.clone(),
            None if cx.input.dry_run => cluster_id::in_runtime(cx, IfMissing::Invent).await?,
            None => {
                let found = cluster_id::in_runtime(cx, IfMissing::Create).await?;
                cx.data.details.sm_cluster_id.insert(found).clone()
            }
        };
        creator(cx)?.connect_operator(&given, &cluster);
        done()
    }
}
