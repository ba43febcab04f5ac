//! The use cases behind the API: one file each.

use crate::{
    error::Error,
    requests,
    status::{OperationStatus, RuntimeStatus},
};

/// Whoever calls, and for whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The global account; empty when the caller named none.
    pub tenant: String,
    /// The subaccount, when the caller named one.
    pub subaccount: Option<String>,
    /// By which a repeated request is recognised.
    pub idempotency_key: Option<String>,
}

/// The provisioner.
#[derive(Clone)]
pub struct Provisioner {}

#[expect(clippy::unused_async, unused_variables, reason = "one file each, to come")]
impl Provisioner {
    /// Makes a runtime.
    pub async fn provision(
        &self,
        caller: &Caller,
        request: requests::Provision,
    ) -> Result<OperationStatus, Error> {
        Err(Error::internal("not yet"))
    }
    /// Gives a runtime another version of Kyma, of Kubernetes, or of both.
    pub async fn upgrade(
        &self,
        caller: &Caller,
        runtime: &str,
        request: requests::Upgrade,
    ) -> Result<OperationStatus, Error> {
        Err(Error::internal("not yet"))
    }
    /// Gives a runtime's cluster other settings.
    pub async fn upgrade_shoot(
        &self,
        caller: &Caller,
        runtime: &str,
        request: requests::UpgradeShoot,
    ) -> Result<OperationStatus, Error> {
        Err(Error::internal("not yet"))
    }
    /// Removes a runtime with everything that was made for it.
    pub async fn deprovision(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<OperationStatus, Error> {
        Err(Error::internal("not yet"))
    }
    /// Lets a runtime sleep.
    pub async fn hibernate(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<OperationStatus, Error> {
        Err(Error::internal("not yet"))
    }
    /// Makes the agent of a runtime connect anew.
    pub async fn reconnect_agent(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<OperationStatus, Error> {
        Err(Error::internal("not yet"))
    }
    /// Takes back which version of Kyma counts, after an upgrade that has ended.
    pub async fn roll_back_upgrade(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<RuntimeStatus, Error> {
        Err(Error::internal("not yet"))
    }
    /// How a runtime is doing.
    pub async fn runtime_status(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<RuntimeStatus, Error> {
        Err(Error::internal("not yet"))
    }
    /// How an operation is doing.
    pub async fn operation_status(
        &self,
        caller: &Caller,
        operation: &str,
    ) -> Result<OperationStatus, Error> {
        Err(Error::internal("not yet"))
    }
}
