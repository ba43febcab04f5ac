//! Keeps the template of the Kyma resource that belongs to the new version.
//!
//! What a reader would get wrong: the namespace of a Kyma resource that is there already does not follow the template. Otherwise the
//! runtime would get a second one.

use clients::lifecycle_manager::Template;
use store::broker::InstanceChange;

use super::{UpgradingKyma, creator};
use crate::operations::{prelude::*, shared::document};

pub(super) struct InitKymaTemplate;

impl Step<UpgradingKyma> for InitKymaTemplate {
    const NAME: &'static str = "Init_Kyma_Template";

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        let Some(text) = creator(cx)?.kyma_template.clone() else {
            return match cx.env.lifecycle_manager {
                Some(_) => Err(unusable("the plan's configuration has no kyma-template")),
                None => done(),
            };
        };
        let template = Template::parse(&text).map_err(|why| unusable(&why))?;
        let details = &mut cx.data.details;
        let is_new = details.kyma_name.is_none();
        if is_new || details.kyma_namespace.is_none() {
            details.kyma_namespace = Some(template.namespace().to_owned());
        }
        details.kyma_template = Some(text);
        if is_new && !cx.input.dry_run && cx.env.lifecycle_manager.is_some() {
            // A removal that comes while the resource is being made has to know where it is.
            let details = Some(document(&cx.data.details)?);
            cx.change(&InstanceChange { details, ..InstanceChange::default() })?;
        }
        done()
    }
}

fn unusable(why: &str) -> StepError {
    StepError::fatal(Failure::new("broker", "kyma_template", why))
}
