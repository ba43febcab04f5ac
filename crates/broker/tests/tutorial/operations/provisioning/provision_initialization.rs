//! Begins to collect what the runtime is ordered with: a release of one component.

use broker::operations::creator::{Creator, PlanConfiguration};
use clients::releases::ListedComponent;

use super::Provisioning;
use crate::operations::prelude::*;

pub(super) struct ProvisionInitialization;

impl Step<Provisioning> for ProvisionInitialization {
    const NAME: &'static str = "Provision_Initialization";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let component = ListedComponent {
            name: "hello-world".into(),
            namespace: "kyma-system".into(),
            url: None,
        };
        let plan = PlanConfiguration { additional_components: Vec::new(), kyma_template: None };
        let creator = Creator::new(&cx.input.order, "2.10.0", vec![component], plan);
        cx.memory.creator = Some(creator);
        done()
    }
}
