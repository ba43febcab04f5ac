//! Forgets the instance, or marks it as removed while something of it is left.

use engine::wait;
use store::broker::{InstanceChange, RuntimeId};

use super::{Deprovisioning, btpoperator_cleanup::BtpOperatorCleanup};
use crate::operations::{prelude::*, shared::document};

pub(super) struct RemoveInstance;

impl Step<Deprovisioning> for RemoveInstance {
    const NAME: &'static str = "Remove_Instance";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(10));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        // What was inside of a cluster that is gone is gone with it.
        if !cx.data.cluster_may_exist() {
            cx.data.gone::<BtpOperatorCleanup>();
        }
        let clean = cx.data.left.is_empty();
        let temporary = cx.input.temporary;
        if clean && temporary {
            cx.data.details = cx.data.details.without_cluster();
        }
        // What is left of a suspension may be anything; once the cluster is gone, nobody is led to it any more.
        let cleared = clean || (temporary && !cx.data.cluster_may_exist());
        let change = InstanceChange {
            removed: clean && !temporary,
            deleted: !clean && !temporary,
            runtime_id: if cleared { RuntimeId::Cleared } else { RuntimeId::Unchanged },
            details: Some(document(&cx.data.details)?),
            ..InstanceChange::default()
        };
        cx.change(&change)?;
        if clean {
            return done();
        }
        let left: Vec<&str> = cx.data.left.iter().map(String::as_str).collect();
        wait(format!("something of the instance is left: {}", left.join(", ")))
    }
}
