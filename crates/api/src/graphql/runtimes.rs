//! What the API calls: the provisioner's use cases.

use std::pin::Pin;

use provisioner::{
    Caller, Error, Provisioner,
    limits::Longest,
    requests::{Provision, Upgrade, UpgradeShoot},
    status::{OperationStatus, Parts, RuntimeStatus},
};

/// The answer of a use case.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The use cases of the provisioner.
pub trait Runtimes: Send + Sync + 'static {
    /// Makes a runtime.
    fn provision<'a>(
        &'a self,
        caller: &'a Caller,
        request: Provision,
    ) -> Answer<'a, OperationStatus>;
    /// Gives a runtime another version of Kyma, of Kubernetes, or of both.
    fn upgrade<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        request: Upgrade,
    ) -> Answer<'a, OperationStatus>;
    /// Gives a runtime's cluster other settings.
    fn upgrade_shoot<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        request: UpgradeShoot,
    ) -> Answer<'a, OperationStatus>;
    /// Removes a runtime with everything that was made for it; what is unfinished is called off on request.
    fn deprovision<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        supersede: bool,
    ) -> Answer<'a, OperationStatus>;
    /// Lets a runtime sleep.
    fn hibernate<'a>(&'a self, caller: &'a Caller, runtime: &'a str)
    -> Answer<'a, OperationStatus>;
    /// Makes the agent of a runtime connect anew.
    fn reconnect_agent<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
    ) -> Answer<'a, OperationStatus>;
    /// Takes back which version of Kyma counts.
    fn roll_back_upgrade<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        parts: Parts,
    ) -> Answer<'a, RuntimeStatus>;
    /// How a runtime is doing.
    fn runtime_status<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        parts: Parts,
    ) -> Answer<'a, RuntimeStatus>;
    /// How an operation is doing.
    fn operation_status<'a>(
        &'a self,
        caller: &'a Caller,
        operation: &'a str,
    ) -> Answer<'a, OperationStatus>;
    /// The longest that operations may take.
    fn longest(&self) -> Longest;
}

impl Runtimes for Provisioner {
    fn provision<'a>(
        &'a self,
        caller: &'a Caller,
        request: Provision,
    ) -> Answer<'a, OperationStatus> {
        Box::pin(Provisioner::provision(self, caller, request))
    }

    fn upgrade<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        request: Upgrade,
    ) -> Answer<'a, OperationStatus> {
        Box::pin(Provisioner::upgrade(self, caller, runtime, request))
    }

    fn upgrade_shoot<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        request: UpgradeShoot,
    ) -> Answer<'a, OperationStatus> {
        Box::pin(Provisioner::upgrade_shoot(self, caller, runtime, request))
    }

    fn deprovision<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        supersede: bool,
    ) -> Answer<'a, OperationStatus> {
        Box::pin(Provisioner::deprovision(self, caller, runtime, supersede))
    }

    fn hibernate<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
    ) -> Answer<'a, OperationStatus> {
        Box::pin(Provisioner::hibernate(self, caller, runtime))
    }

    fn reconnect_agent<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
    ) -> Answer<'a, OperationStatus> {
        Box::pin(Provisioner::reconnect_agent(self, caller, runtime))
    }

    fn roll_back_upgrade<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        parts: Parts,
    ) -> Answer<'a, RuntimeStatus> {
        Box::pin(Provisioner::roll_back_upgrade(self, caller, runtime, parts))
    }

    fn runtime_status<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        parts: Parts,
    ) -> Answer<'a, RuntimeStatus> {
        Box::pin(Provisioner::runtime_status(self, caller, runtime, parts))
    }

    fn operation_status<'a>(
        &'a self,
        caller: &'a Caller,
        operation: &'a str,
    ) -> Answer<'a, OperationStatus> {
        Box::pin(Provisioner::operation_status(self, caller, operation))
    }

    fn longest(&self) -> Longest {
        Provisioner::longest(self)
    }
}
