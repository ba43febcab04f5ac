//! Gives the BTP operator its credentials, and has it installed.

use store::broker::InstanceChange;
use uuid::Uuid;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{creator, missing_data, update_instance},
};

pub(super) struct BtpOperatorOverrides;

impl Step<Provisioning> for BtpOperatorOverrides {
    const NAME: &'static str = "BTPOperatorOverrides";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let given = cx.input.order.context.sm_operator_credentials.as_ref();
        let given = given.ok_or_else(|| missing_data("the order brings no credentials"))?;
        // Made once: the Service Manager knows the cluster by it.
        let made = || Uuid::new_v4().to_string();
        let cluster = cx.data.sm_cluster_id.get_or_insert_with(made).clone();
        creator(cx)?.connect_operator(given, &cluster);
        update_instance(cx, InstanceChange::default())?;
        done()
    }
}
