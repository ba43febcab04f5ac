//! What can be asked.

use std::sync::Arc;

use async_graphql::{Context, Object};
use provisioner::Caller;

use super::{
    QueryLimits,
    answer::nullable,
    kubeconfig::wanted,
    outputs::{OperationLimits, OperationStatus, RuntimeStatus},
    runtimes::Runtimes,
};

pub(super) struct Query(pub(super) Arc<dyn Runtimes>);

#[Object]
impl Query {
    /// How a runtime is doing.
    #[graphql(complexity = "QueryLimits::CALL + child_complexity")]
    async fn runtime_status(&self, ctx: &Context<'_>, id: String) -> Option<RuntimeStatus> {
        let caller = ctx.data_unchecked::<Caller>();
        let parts = wanted(ctx);
        nullable(ctx, self.0.runtime_status(caller, &id, parts)).await
    }

    /// How an operation is doing.
    #[graphql(complexity = "QueryLimits::CALL + child_complexity")]
    async fn runtime_operation_status(
        &self,
        ctx: &Context<'_>,
        id: String,
    ) -> Option<OperationStatus> {
        let caller = ctx.data_unchecked::<Caller>();
        nullable(ctx, self.0.operation_status(caller, &id)).await
    }

    /// The longest that each operation may take, in seconds. Callers that wait for an operation must wait longer.
    async fn operation_limits(&self) -> OperationLimits {
        OperationLimits::of(self.0.longest())
    }
}
