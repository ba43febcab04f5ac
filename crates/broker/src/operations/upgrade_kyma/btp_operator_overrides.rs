//! Gives the BTP operator its credentials, and has it installed.

use uuid::Uuid;

use super::{UpgradingKyma, creator};
use crate::operations::{prelude::*, shared::missing_data};

pub(super) struct BtpOperatorOverrides;

impl Step<UpgradingKyma> for BtpOperatorOverrides {
    const NAME: &'static str = "BTPOperatorOverrides";

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        let order = cx.data.order.as_ref();
        let given = order.and_then(|order| order.context.sm_operator_credentials.clone());
        let given = given.ok_or_else(|| missing_data("the order has no credentials"))?;
        // Made once: the Service Manager knows the cluster by it.
        let cluster = *cx.data.details.sm_cluster_id.get_or_insert_with(Uuid::new_v4);
        creator(cx)?.connect_operator(&given, cluster);
        done()
    }
}
