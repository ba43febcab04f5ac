//! Registers the runtime's dashboards with the identity service, and gives them their credentials.

use clients::ias::ProviderKind;
use secrecy::ExposeSecret;

use super::super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{creator, require_client},
};

const COMPONENT: &str = "monitoring";

pub(super) struct IasRegistration;

impl Step<Provisioning> for IasRegistration {
    const NAME: &'static str = "IAS_Registration";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(30));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let ias = require_client(cx.env.ias.as_ref(), System::Ias)?;
        let instance = &cx.input.order.instance_id;
        let given = ias.register(ProviderKind::Grafana, instance).await?;
        if let Some(given) = given {
            let overrides = creator(cx)?.overrides();
            let mut set = |key: &str, value: &str| {
                let key = format!("grafana.env.GF_AUTH_GENERIC_OAUTH_CLIENT_{key}");
                overrides.set(Some(COMPONENT), &key, value, true);
            };
            set("ID", &given.client_id);
            set("SECRET", given.client_secret.expose_secret());
        }
        done()
    }
}
