//! Waits until the Reconciler has installed Kyma. If that takes too long, the cluster is deleted in the
//! Reconciler before the operation fails: it would go on trying for ever.

use clients::reconciler::Reconciler;
use engine::step::Waiting;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{
        missing_data,
        reconciliation::{Reconciliation, read, stopped, with},
        require_client, runtime_id,
    },
};

/// How long the Reconciler may fail to let go before the operation fails nevertheless: removing the instance tells it again.
pub(super) const GRACE: Duration = mins(10);

pub(super) struct CheckClusterConfiguration {
    /// How long the Reconciler may take.
    pub(super) within: Duration,
}

impl Step<Provisioning> for CheckClusterConfiguration {
    const NAME: &'static str = "Check_Cluster_Configuration";
    const RETRY: Retry =
        Retry::DEFAULT.polling(millis(500), secs(30)).closely().backing_off(secs(5), mins(1));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let reconciler = require_client(cx.env.reconciler.as_ref(), System::Reconciler)?;
        let runtime = runtime_id(cx)?;
        let version = cx.data.cluster_configuration_version;
        let version = version.ok_or_else(|| missing_data("the Reconciler has no configuration"))?;
        let since = cx.data.cluster_configuration_at.unwrap_or(cx.now);
        let waited = cx.now.duration_since(since).unsigned_abs();
        let is_late = waited >= self.within;
        let said = match read(reconciler, &runtime, version).await {
            Ok(Reconciliation::Done) => return done(),
            Ok(Reconciliation::Going(waits, _)) if !is_late => {
                // It looks again soon after the time is up, however long the Reconciler pauses.
                let rest = self.within.saturating_sub(waited).max(secs(30));
                let at_latest = waits.at_latest.map(|interval| interval.min(rest));
                return Waiting { at_latest, ..waits }.into();
            }
            Ok(Reconciliation::Going(_, said)) => said,
            // It is unavailable, or has let go already and the response was lost.
            Err(StepError::Transient { failure, .. } | StepError::Fatal(failure)) if is_late => {
                failure.message
            }
            Err(error) => return Err(error),
        };
        Err(let_go(reconciler, &runtime, &said, waited >= self.within + GRACE).await)
    }
}

/// Tells the Reconciler to let go; an error that may pass is returned unless this is the last try.
async fn let_go(reconciler: &Reconciler, runtime: &str, said: &str, is_last: bool) -> StepError {
    match reconciler.delete_cluster(runtime).await.map_err(StepError::from) {
        Ok(()) => {}
        Err(StepError::NotHeld) => return StepError::NotHeld,
        Err(error @ StepError::Transient { .. }) if !is_last => return error,
        Err(error) => {
            tracing::warn!(%error, runtime, "the Reconciler keeps a cluster that is given up");
        }
    }
    stopped("timeout", &with("the Reconciler did not install Kyma within its time limit", said))
}
