//! The calls: each begins an operation, or asks how something is doing.

use base::Key;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    Kyma, OperationLimits, OperationStatus, Provision, Provisioner, RuntimeStatus, Tenant, Upgrade,
    UpgradeShoot, codes,
};
use crate::{
    error::{Error, Kind},
    graphql::Operation,
    scrub::Scrub,
};

macro_rules! operation {
    ($name:literal, $head:literal, $($selection:literal)*) => {
        Operation { name: $name, text: concat!($head, $(" ", $selection,)* " }") }
    };
}
macro_rules! status {
    ($name:literal, $head:literal) => {
        operation!(
            $name,
            $head,
            "{ id operation state message runtimeID lastError { errMessage reason component } }"
        )
    };
}

const PROVISION: Operation = status!(
    "provisionRuntime",
    "mutation ($config: ProvisionRuntimeInput!) { result: provisionRuntime(config: $config)"
);
const PROVISION_REGISTERED: Operation = status!(
    "provisionRuntime",
    "mutation ($id: String!, $config: ProvisionRuntimeInput!) { result: provisionRuntime(runtimeID: $id, config: $config)"
);
const UPGRADE: Operation = status!(
    "upgradeRuntime",
    "mutation ($id: String!, $config: UpgradeRuntimeInput!) { result: upgradeRuntime(id: $id, config: $config)"
);
const UPGRADE_SHOOT: Operation = status!(
    "upgradeShoot",
    "mutation ($id: String!, $config: UpgradeShootInput!) { result: upgradeShoot(id: $id, config: $config)"
);
const HIBERNATE: Operation =
    status!("hibernateRuntime", "mutation ($id: String!) { result: hibernateRuntime(id: $id)");
const OPERATION_STATUS: Operation = status!(
    "runtimeOperationStatus",
    "query ($id: String!) { result: runtimeOperationStatus(id: $id)"
);
const DEPROVISION: Operation = operation!(
    "deprovisionRuntime",
    "mutation ($id: String!) { result: deprovisionRuntime(id: $id)",
);
const DEPROVISION_SUPERSEDING: Operation = operation!(
    "deprovisionRuntime",
    "mutation ($id: String!) { result: deprovisionRuntime(id: $id, supersede: true)",
);
const RECONNECT: Operation = operation!(
    "reconnectRuntimeAgent",
    "mutation ($id: String!) { result: reconnectRuntimeAgent(id: $id)",
);
const LIMITS: Operation = operation!(
    "operationLimits",
    "query { result: operationLimits",
    "{ provisioning upgradeShoot deprovisioning }"
);
const RUNTIME_STATUS: Operation = operation!(
    "runtimeStatus",
    "query ($id: String!) { result: runtimeStatus(id: $id)",
    "{ lastOperationStatus { id operation state message runtimeID lastError { errMessage reason component } }"
    "runtimeConnectionStatus { status } hibernationStatus { hibernated }"
    "runtimeConfiguration { kubeconfig kymaConfig { version } clusterConfig {"
    "name kubernetesVersion volumeSizeGB diskType machineType region provider seed targetSecret workerCidr"
    "autoScalerMin autoScalerMax maxSurge maxUnavailable"
    "oidcConfig { clientID groupsClaim issuerURL signingAlgs usernameClaim usernamePrefix } } } }"
);

impl Provisioner {
    /// Begins to make a runtime, which is registered in the Director first.
    pub async fn provision(
        &self,
        tenant: Tenant<'_>,
        key: Key,
        config: &Provision,
    ) -> Result<OperationStatus, Error> {
        let doing = format!("ordering runtime {}", config.runtime_input.name);
        let answer = self.order(tenant, key, &doing, PROVISION, json!({ "config": config })).await;
        without_secrets(config.kyma.as_ref(), answer)
    }

    /// Begins to make a runtime that is registered already. Not every provisioner can.
    pub async fn provision_registered(
        &self,
        tenant: Tenant<'_>,
        key: Key,
        runtime: &str,
        config: &Provision,
    ) -> Result<OperationStatus, Error> {
        let doing = format!("ordering runtime {runtime}");
        let variables = json!({ "id": runtime, "config": config });
        let answer = self.order(tenant, key, &doing, PROVISION_REGISTERED, variables).await;
        without_secrets(config.kyma.as_ref(), answer)
    }

    /// Begins to give a runtime other versions; [`Kind::Busy`] while another operation runs.
    pub async fn upgrade(
        &self,
        tenant: Tenant<'_>,
        key: Key,
        runtime: &str,
        config: &Upgrade,
    ) -> Result<OperationStatus, Error> {
        let doing = format!("ordering the upgrade of runtime {runtime}");
        let variables = json!({ "id": runtime, "config": config });
        let answer = self.order(tenant, key, &doing, UPGRADE, variables).await;
        without_secrets(config.kyma.as_ref(), answer)
    }

    /// Begins to give a cluster other settings; [`Kind::Busy`] while another operation runs.
    pub async fn upgrade_shoot(
        &self,
        tenant: Tenant<'_>,
        key: Key,
        runtime: &str,
        config: &UpgradeShoot,
    ) -> Result<OperationStatus, Error> {
        let doing = format!("ordering other settings for runtime {runtime}");
        let variables = json!({ "id": runtime, "config": config });
        self.order(tenant, key, &doing, UPGRADE_SHOOT, variables).await
    }

    /// Begins to remove a runtime and gives the operation's id. A runtime that is not known is [`Kind::NotFound`],
    /// and there is nothing to remove.
    pub async fn deprovision(
        &self,
        tenant: Tenant<'_>,
        key: Key,
        runtime: &str,
    ) -> Result<String, Error> {
        let doing = format!("ordering the removal of runtime {runtime}");
        self.order(tenant, key, &doing, DEPROVISION, json!({ "id": runtime })).await
    }

    /// Begins to remove a runtime and calls off what is unfinished. [`Kind::Busy`] also when the provisioner cannot do that: not
    /// every one knows how.
    pub async fn deprovision_superseding(
        &self,
        tenant: Tenant<'_>,
        key: Key,
        runtime: &str,
    ) -> Result<String, Error> {
        let doing =
            format!("ordering the removal of runtime {runtime} and the end of what it does");
        let variables = json!({ "id": runtime });
        let answer = self.order(tenant, key, &doing, DEPROVISION_SUPERSEDING, variables).await;
        answer.map_err(|error| match error.reason.as_deref() {
            Some(codes::UNKNOWN_ARGUMENT) => Error { kind: Kind::Busy, ..error },
            _ => error,
        })
    }

    /// Begins to let a runtime sleep.
    pub async fn hibernate(
        &self,
        tenant: Tenant<'_>,
        key: Key,
        runtime: &str,
    ) -> Result<OperationStatus, Error> {
        let doing = format!("letting runtime {runtime} sleep");
        self.order(tenant, key, &doing, HIBERNATE, json!({ "id": runtime })).await
    }

    /// Begins to connect the agent of a runtime anew, and gives the operation's id.
    pub async fn reconnect(
        &self,
        tenant: Tenant<'_>,
        key: Key,
        runtime: &str,
    ) -> Result<String, Error> {
        let doing = format!("connecting the agent of runtime {runtime} anew");
        self.order(tenant, key, &doing, RECONNECT, json!({ "id": runtime })).await
    }

    /// How an operation is doing.
    pub async fn operation_status(
        &self,
        tenant: Tenant<'_>,
        operation: &str,
    ) -> Result<OperationStatus, Error> {
        let doing = format!("asking how operation {operation} is doing");
        self.demand(tenant, &doing, OPERATION_STATUS, json!({ "id": operation })).await
    }

    /// How a runtime is doing.
    pub async fn runtime_status(
        &self,
        tenant: Tenant<'_>,
        runtime: &str,
    ) -> Result<RuntimeStatus, Error> {
        let doing = format!("asking how runtime {runtime} is doing");
        self.demand(tenant, &doing, RUNTIME_STATUS, json!({ "id": runtime })).await
    }

    /// The longest that its operations may take; nothing where the provisioner does not say, as older ones do not.
    pub async fn limits(&self) -> Result<Option<OperationLimits>, Error> {
        match self.graphql.ask("asking for its limits", LIMITS, &[], json!({})).await {
            Err(error) if matches!(error.kind, Kind::Refused { status: 400 | 422 }) => Ok(None),
            answered => answered,
        }
    }

    /// Begins an operation, once for each key: a repetition under it is answered with what the first one began.
    async fn order<T: DeserializeOwned>(
        &self,
        tenant: Tenant<'_>,
        key: Key,
        doing: &str,
        operation: Operation,
        variables: Value,
    ) -> Result<T, Error> {
        key.scope(self.demand(tenant, doing, operation, variables)).await
    }

    async fn demand<T: DeserializeOwned>(
        &self,
        tenant: Tenant<'_>,
        doing: &str,
        operation: Operation,
        variables: Value,
    ) -> Result<T, Error> {
        let answer = self.graphql.ask(doing, operation, &headers(tenant), variables).await?;
        // Nothing without an error: some provisioners do not do what they offer.
        answer.ok_or_else(|| {
            Error::new(self.graphql.component(), Kind::Malformed, doing)
                .saying("there is no result")
        })
    }
}

/// The headers that say for whom a call is made.
pub(super) fn headers(tenant: Tenant<'_>) -> Vec<(&'static str, &str)> {
    let mut headers = vec![("tenant", tenant.id)];
    headers.extend(tenant.subaccount.map(|subaccount| ("sub-account", subaccount)));
    headers
}

/// A refusal of an override may repeat its value.
fn without_secrets<T>(kyma: Option<&Kyma>, answer: Result<T, Error>) -> Result<T, Error> {
    let components = kyma.into_iter().flat_map(|kyma| &kyma.components);
    let own = components.flat_map(|component| &component.configuration);
    let entries = kyma.into_iter().flat_map(|kyma| &kyma.configuration).chain(own);
    let secret = entries.filter(|entry| entry.secret).map(|entry| &entry.value);
    answer.map_err(|error| Scrub::values(secret).clean(error))
}
