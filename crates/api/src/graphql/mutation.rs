//! What can be changed. Each of these starts an operation, except for the roll back.

use async_graphql::{Context, Object, Result};

use super::{
    QueryLimits,
    answer::{nullable, required},
    inputs::{ProvisionRuntimeInput, UpgradeRuntimeInput, UpgradeShootInput},
    kubeconfig::wanted,
    outputs::{OperationStatus, RuntimeStatus},
    query::parts,
};

pub(super) struct Mutation;

#[Object]
impl Mutation {
    /// Makes a runtime. With a runtimeID it takes one that is registered already.
    #[graphql(complexity = "QueryLimits::CALL + child_complexity")]
    async fn provision_runtime(
        &self,
        ctx: &Context<'_>,
        config: ProvisionRuntimeInput,
        #[graphql(name = "runtimeID")] runtime_id: Option<String>,
    ) -> Option<OperationStatus> {
        let (provisioner, caller) = parts(ctx);
        let work = async {
            let request = config.request(runtime_id).map_err(|wrong| wrong.within("config"))?;
            provisioner.provision(caller, request).await
        };
        nullable(ctx, work).await
    }

    /// Gives a runtime another version of Kyma, of Kubernetes, or of both.
    #[graphql(complexity = "QueryLimits::CALL + child_complexity")]
    async fn upgrade_runtime(
        &self,
        ctx: &Context<'_>,
        id: String,
        config: UpgradeRuntimeInput,
    ) -> Option<OperationStatus> {
        let (provisioner, caller) = parts(ctx);
        let work = async {
            let request = config.request().map_err(|wrong| wrong.within("config"))?;
            provisioner.upgrade(caller, &id, request).await
        };
        nullable(ctx, work).await
    }

    /// Removes a runtime with everything that was made for it; answers with the operation's id. With supersede an
    /// operation that is in progress is called off, instead of being in the way.
    #[graphql(complexity = "QueryLimits::CALL")]
    async fn deprovision_runtime(
        &self,
        ctx: &Context<'_>,
        id: String,
        supersede: Option<bool>,
    ) -> Result<String> {
        let (provisioner, caller) = parts(ctx);
        let supersede = supersede.unwrap_or_default();
        Ok(required(provisioner.deprovision(caller, &id, supersede)).await?.id)
    }

    /// Gives a runtime's cluster other settings.
    #[graphql(complexity = "QueryLimits::CALL + child_complexity")]
    async fn upgrade_shoot(
        &self,
        ctx: &Context<'_>,
        id: String,
        config: UpgradeShootInput,
    ) -> Option<OperationStatus> {
        let (provisioner, caller) = parts(ctx);
        nullable(ctx, provisioner.upgrade_shoot(caller, &id, config.request())).await
    }

    /// Lets a runtime sleep.
    #[graphql(complexity = "QueryLimits::CALL + child_complexity")]
    async fn hibernate_runtime(&self, ctx: &Context<'_>, id: String) -> Option<OperationStatus> {
        let (provisioner, caller) = parts(ctx);
        nullable(ctx, provisioner.hibernate(caller, &id)).await
    }

    /// Takes back which version of Kyma counts, after an upgrade that has ended.
    #[graphql(complexity = "QueryLimits::CALL + child_complexity")]
    async fn roll_back_upgrade_operation(
        &self,
        ctx: &Context<'_>,
        id: String,
    ) -> Option<RuntimeStatus> {
        let (provisioner, caller) = parts(ctx);
        nullable(ctx, provisioner.roll_back_upgrade(caller, &id, wanted(ctx))).await
    }

    /// Makes the agent of a runtime connect anew; answers with the operation's id.
    #[graphql(complexity = "QueryLimits::CALL")]
    async fn reconnect_runtime_agent(&self, ctx: &Context<'_>, id: String) -> Result<String> {
        let (provisioner, caller) = parts(ctx);
        Ok(required(provisioner.reconnect_agent(caller, &id)).await?.id)
    }
}
