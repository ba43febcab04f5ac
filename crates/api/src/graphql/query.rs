//! What can be asked.

use async_graphql::{Context, Object};
use provisioner::{Caller, Provisioner};

use super::{
    QueryLimits,
    answer::nullable,
    kubeconfig::wanted,
    outputs::{OperationLimits, OperationStatus, RuntimeStatus},
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
    ) -> Option<OperationStatus> {
        let (provisioner, caller) = parts(ctx);
        nullable(ctx, provisioner.operation_status(caller, &id)).await
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
