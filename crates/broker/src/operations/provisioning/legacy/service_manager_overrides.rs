//! Gives the runtime its credentials for the Service Manager: the order's own, or those that operators have set.

use secrecy::ExposeSecret;

use super::super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{creator, missing_data},
};

const COMPONENT: &str = "service-manager-proxy";

pub(super) struct ServiceManagerOverrides;

impl Step<Provisioning> for ServiceManagerOverrides {
    const NAME: &'static str = "ServiceManagerOverrides";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let ours = cx.env.settings.service_manager.as_ref();
        let theirs = cx.input.order.context.sm_operator_credentials.as_ref();
        let (url, user, password) = match (ours, theirs) {
            (Some(ours), theirs) if ours.always || theirs.is_none() => {
                (&ours.url, &ours.user, ours.password.expose_secret())
            }
            (_, Some(theirs)) => (&theirs.sm_url, &theirs.clientid, theirs.clientsecret.expose()),
            _ => return Err(missing_data("there are no credentials for the Service Manager")),
        };
        let overrides = creator(cx)?.overrides();
        overrides.set(Some(COMPONENT), "config.sm.url", url, false);
        overrides.set(Some(COMPONENT), "sm.user", user, false);
        overrides.set(Some(COMPONENT), "sm.password", password, true);
        done()
    }
}
