//! What can be asked.

use std::time::Duration;

use async_graphql::{Context, Object};
use provisioner::{Caller, Follow, Provisioner};

use super::{
    QueryLimits,
    answer::nullable,
    kubeconfig::wanted,
    outputs::{OperationLimits, OperationState, OperationStatus, RuntimeStatus},
};

pub(super) struct Query;

#[Object]
impl Query {
    /// How a runtime is doing.
    #[graphql(complexity = "QueryLimits::CALL + child_complexity")]
    async fn runtime_status(&self, ctx: &Context<'_>, id: String) -> Option<RuntimeStatus> {
        let (provisioner, caller) = parts(ctx);
        nullable(ctx, provisioner.runtime_status(caller, &id, wanted(ctx))).await
    }

    /// How an operation is doing.
    #[graphql(complexity = "QueryLimits::CALL + child_complexity")]
    async fn runtime_operation_status(
        &self,
        ctx: &Context<'_>,
        id: String,
        #[graphql(
            desc = "Waits for so long, 20 at most, until the state or the message differs from what was seen; the end of the operation is answered at once."
        )]
        wait_seconds: Option<i32>,
        #[graphql(desc = "The state that the caller saw last; without it, the present one.")]
        seen_state: Option<OperationState>,
        #[graphql(desc = "The message that the caller saw last; without it, the present one.")]
        seen_message: Option<String>,
    ) -> Option<OperationStatus> {
        let (provisioner, caller) = parts(ctx);
        let wait = wait_seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or_default();
        let follow = Follow {
            wait: Duration::from_secs(wait).min(ctx.data_unchecked::<QueryLimits>().wait),
            seen_state: seen_state.and_then(OperationState::known),
            seen_message,
        };
        nullable(ctx, provisioner.operation_change(caller, &id, follow)).await
    }

    /// The longest that each operation may take, in seconds. Callers that wait for an operation must wait longer.
    async fn operation_limits(&self, ctx: &Context<'_>) -> OperationLimits {
        OperationLimits::of(ctx.data_unchecked::<Provisioner>().longest())
    }
}

/// What every field works with.
pub(super) fn parts<'a>(ctx: &Context<'a>) -> (&'a Provisioner, &'a Caller) {
    (ctx.data_unchecked(), ctx.data_unchecked())
}
