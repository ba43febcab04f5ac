//! Waits until the Reconciler has applied the configuration.

use super::Updating;
use crate::operations::{
    prelude::*,
    shared::{
        missing_data,
        reconciliation::{Reconciliation, read},
        require_client, runtime_id,
    },
};

pub(super) struct CheckReconcilerState;

impl Step<Updating> for CheckReconcilerState {
    const NAME: &'static str = "CheckReconcilerState";
    const RETRY: Retry =
        Retry::DEFAULT.polling(millis(500), mins(1)).closely().backing_off(secs(5), mins(1));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        let reconciler = require_client(cx.env.reconciler.as_ref(), System::Reconciler)?;
        let runtime = runtime_id(cx)?;
        let version = cx.data.details.cluster_configuration_version;
        let version = version.ok_or_else(|| missing_data("the Reconciler has no configuration"))?;
        match read(reconciler, &runtime, version).await? {
            Reconciliation::Done => done(),
            Reconciliation::Going(waits, _) => waits.into(),
        }
    }
}
