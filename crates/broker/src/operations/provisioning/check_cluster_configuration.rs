//! Waits until the Reconciler has installed Kyma. If that takes too long, the Reconciler is told to let go of the
//! cluster before the operation fails: it would go on trying for ever.

use clients::reconciler::{Reconciler, State, Status};

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{missing, needed, runtime_id},
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
        let state = reconciler.status(&runtime, version).await?;
        let state = state.ok_or_else(|| stopped("gone", "the Reconciler has lost the cluster"))?;
        let waits = match &state.status {
            Status::Ready => return done(),
            Status::ReconcilePending | Status::Reconciling => {
                waiting("the Reconciler installs Kyma")
            }
            Status::ReconcileErrorRetryable => {
                waiting(with("the Reconciler tries again after an error", &said(&state)))
                    .at_latest(mins(10))
            }
            Status::Error => {
                let names: Vec<&str> =
                    state.failures.iter().map(|it| it.component.as_str()).collect();
                let reason = if names.is_empty() { "error".into() } else { names.join(", ") };
                let text = with("the Reconciler could not install Kyma", &said(&state));
                return Err(stopped(&reason, &text));
            }
            other => {
                let text = format!("the Reconciler says \"{other}\"");
                return Err(stopped("unexpected_status", &text));
            }
        };
        let since = cx.data.cluster_configuration_at.unwrap_or(cx.now);
        if cx.now.duration_since(since).unsigned_abs() >= self.within {
            return Err(let_go(reconciler, &runtime, &said(&state)).await);
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

/// A text, and what the Reconciler said if it said something.
fn with(text: &str, said: &str) -> String {
    if said.is_empty() { text.to_owned() } else { format!("{text}: {said}") }
}

fn said(state: &State) -> String {
    let each = state.failures.iter().map(|it| format!("{}: {}", it.component, it.reason));
    each.collect::<Vec<_>>().join("; ")
}

fn stopped(reason: &str, text: &str) -> StepError {
    StepError::fatal(Failure::new("reconciler", reason, text))
}
