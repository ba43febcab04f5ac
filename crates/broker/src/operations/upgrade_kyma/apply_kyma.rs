//! Marks the Kyma resource, or makes it for a runtime that has none: one from a time without the Lifecycle Manager, or one whose
//! resource was removed. Where it was noted to be, there it is made again.

use clients::lifecycle_manager::Template;
use store::broker::InstanceChange;

use super::UpgradingKyma;
use crate::operations::{
    prelude::*,
    shared::{document, in_cluster, kyma, missing_data, require_client, upgrading},
};

pub(super) struct ApplyKyma;

impl Step<UpgradingKyma> for ApplyKyma {
    const NAME: &'static str = "Apply_Kyma";
    const CALLS: &'static [&'static str] = &["lifecycle manager"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(30)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        let manager = require_client(cx.env.lifecycle_manager.as_ref(), System::LifecycleManager)?;
        let details = &cx.data.details;
        let text = details.kyma_template.as_deref();
        let text =
            text.ok_or_else(|| missing_data("the template of the Kyma resource is not known"))?;
        let template = Template::parse(text)
            .map_err(|why| StepError::fatal(Failure::new("broker", "kyma_template", why)))?;
        let name =
            kyma::name(details).ok_or_else(|| missing_data("the runtime was never ordered"))?;
        let marks = kyma::marks(upgrading::order(cx)?, details, &name);
        let template = match &details.kyma_namespace {
            Some(kept) => template.in_namespace(kept),
            None => template,
        };
        manager.apply(&template, &name, &marks).await.map_err(in_cluster)?;
        if cx.data.details.kyma_name.as_ref() != Some(&name) {
            // A removal that comes before the end has to know the resource.
            cx.data.details.kyma_name = Some(name);
            let details = Some(document(&cx.data.details)?);
            cx.change(&InstanceChange { details, ..InstanceChange::default() })?;
        }
        done()
    }
}
