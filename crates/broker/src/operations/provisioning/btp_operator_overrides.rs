//! Gives the BTP operator its credentials, and has it installed.

use store::broker::InstanceChange;
use uuid::Uuid;

use super::Provisioning;
use crate::operations::{
    creator::BTP_OPERATOR,
    prelude::*,
    shared::{creator, missing, update_instance},
};

pub(super) struct BtpOperatorOverrides;

impl Step<Provisioning> for BtpOperatorOverrides {
    const NAME: &'static str = "BTPOperatorOverrides";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let given = cx.input.order.context.sm_operator_credentials.as_ref();
        let given = given.ok_or_else(|| missing("the order brings no credentials"))?;
        // Made once: the Service Manager knows the cluster by it.
        let cluster = *cx.data.sm_cluster_id.get_or_insert_with(Uuid::new_v4);
        let values = [
            ("manager.secret.clientid", given.clientid.as_str(), true),
            ("manager.secret.clientsecret", given.clientsecret.expose(), true),
            ("manager.secret.url", &given.sm_url, false),
            ("manager.secret.sm_url", &given.sm_url, false),
            ("manager.secret.tokenurl", &given.url, false),
            ("cluster.id", &cluster.to_string(), false),
            ("manager.priorityClassName", "kyma-system", false),
        ];
        let creator = creator(cx)?;
        for (key, value, secret) in values {
            creator.overrides().set(Some(BTP_OPERATOR), key, value, secret);
        }
        creator.enable(BTP_OPERATOR);
        update_instance(cx, InstanceChange::default())?;
        done()
    }
}
