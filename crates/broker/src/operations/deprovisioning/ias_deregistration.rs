//! Removes the service providers through which people logged in to the runtime's tools.

use clients::ias::ProviderKind;

use super::{Deprovisioning, as_transient};
use crate::operations::prelude::*;

pub(super) struct IasDeregistration;

impl Step<Deprovisioning> for IasDeregistration {
    const NAME: &'static str = "IAS_Deregistration";
    const RETRY: Retry = Retry::every(secs(5));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let (env, instance) = (cx.env, cx.instance);
        let Some(ias) = &env.ias else { return done() };
        let company = ias.company().await.map_err(as_transient)?;
        // Only the oldest runtimes have the second one.
        for kind in [ProviderKind::Grafana, ProviderKind::Dex] {
            if let Some(provider) = company.provider(&kind.display_name(instance)) {
                ias.delete_provider(&provider.id).await.map_err(as_transient)?;
            }
        }
        done()
    }
}
