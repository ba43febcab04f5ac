//! Waits until the Reconciler has installed Kyma. If that takes too long, the Reconciler is told to let go of the
//! cluster before the operation fails: it would go on trying for ever.

use clients::reconciler::Reconciler;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{
        missing, needed,
        reconciliation::{Reconciliation, read, stopped, with},
        runtime_id,
    },
};

pub(super) struct CheckClusterConfiguration {
    /// How long the Reconciler may take.
    pub(super) within: Duration,
}

impl Step<Provisioning> for CheckClusterConfiguration {
    const NAME: &'static str = "Check_Cluster_Configuration";
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), secs(30)).backing_off(secs(5), mins(1));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let reconciler = needed(cx.env.reconciler.as_ref(), System::Reconciler)?;
        let runtime = runtime_id(cx)?;
        let version = cx.data.cluster_configuration_version;
        let version = version.ok_or_else(|| missing("the Reconciler has no configuration"))?;
        let (waits, said) = match read(reconciler, &runtime, version).await? {
            Reconciliation::Done => return done(),
            Reconciliation::Going(waits, said) => (waits, said),
        };
        let since = cx.data.cluster_configuration_at.unwrap_or(cx.now);
        if cx.now.duration_since(since).unsigned_abs() >= self.within {
            return Err(let_go(reconciler, &runtime, &said).await);
        }
        waits.into()
    }
}

async fn let_go(reconciler: &Reconciler, runtime: &str, said: &str) -> StepError {
    // As well as it can be done: removing the instance does it again.
    if let Err(error) = reconciler.delete_cluster(runtime).await {
        tracing::warn!(%error, runtime, "the Reconciler keeps a cluster that is given up");
    }
    stopped("timeout", &with("the Reconciler did not install Kyma within its time limit", said))
}
