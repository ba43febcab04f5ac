//! Keeps the template of the Kyma resource: it is needed long after the plan's configuration may have changed.

use clients::lifecycle_manager::Template;
use store::broker::InstanceChange;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{creator, update_instance},
};

pub(super) struct InitKymaTemplate;

impl Step<Provisioning> for InitKymaTemplate {
    const NAME: &'static str = "Init_Kyma_Template";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let Some(text) = creator(cx)?.kyma_template.clone() else {
            return match cx.env.lifecycle_manager {
                Some(_) => Err(unusable("the plan's configuration has no kyma-template")),
                None => done(),
            };
        };
        let template = Template::parse(&text).map_err(|why| unusable(&why))?;
        cx.data.kyma_namespace = Some(template.namespace().to_owned());
        cx.data.kyma_template = Some(text);
        update_instance(cx, InstanceChange::default())?;
        done()
    }
}

fn unusable(why: &str) -> StepError {
    StepError::fatal(Failure::new("broker", "kyma_template", why))
}
