//! Makes the Kyma resource, from which the Lifecycle Manager knows what the runtime shall have.

use clients::lifecycle_manager::Template;
use store::broker::InstanceChange;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{in_cluster, kyma, missing_data, require_client, update_instance},
};

pub(super) struct ApplyKyma;

impl Step<Provisioning> for ApplyKyma {
    const NAME: &'static str = "Apply_Kyma";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(30)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let manager = require_client(cx.env.lifecycle_manager.as_ref(), System::LifecycleManager)?;
        let text = cx.data.kyma_template.as_deref();
        let text =
            text.ok_or_else(|| missing_data("the template of the Kyma resource is not known"))?;
        let template = Template::parse(text)
            .map_err(|why| StepError::fatal(Failure::new("broker", "kyma_template", why)))?;
        let name =
            kyma::name(cx.data).ok_or_else(|| missing_data("the runtime was never ordered"))?;
        let marks = kyma::marks(&cx.input.order, cx.data, &name);
        manager.apply(&template, &name, &marks).await.map_err(in_cluster)?;
        cx.data.kyma_name = Some(name);
        update_instance(cx, InstanceChange::default())?;
        done()
    }
}
