//! What the API calls: the broker's use cases.

use std::pin::Pin;

use broker::instances::{
    Broker, Caller, Deprovision, Error, Found, LastOperation, Provision, Provisioned,
};
use domain::OperationId;
use serde_json::Value;

/// The answer of a use case.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The use cases of the broker.
pub trait Instances: Send + Sync + 'static {
    /// What can be ordered from a region.
    fn catalog(&self, region: Option<&str>) -> Value;
    /// Accepts an order.
    fn provision<'a>(&'a self, caller: &'a Caller, request: Provision) -> Answer<'a, Provisioned>;
    /// Removes an instance.
    fn deprovision<'a>(
        &'a self,
        caller: &'a Caller,
        request: Deprovision,
    ) -> Answer<'a, OperationId>;
    /// One instance.
    fn find<'a>(&'a self, caller: &'a Caller, instance: &'a str) -> Answer<'a, Found>;
    /// How far an operation of an instance is: the named one or the newest.
    fn last_operation<'a>(
        &'a self,
        caller: &'a Caller,
        instance: &'a str,
        operation: Option<&'a str>,
    ) -> Answer<'a, LastOperation>;
}

impl Instances for Broker {
    fn catalog(&self, region: Option<&str>) -> Value {
        Broker::catalog(self, region)
    }

    fn provision<'a>(&'a self, caller: &'a Caller, request: Provision) -> Answer<'a, Provisioned> {
        Box::pin(Broker::provision(self, caller, request))
    }

    fn deprovision<'a>(
        &'a self,
        caller: &'a Caller,
        request: Deprovision,
    ) -> Answer<'a, OperationId> {
        Box::pin(Broker::deprovision(self, caller, request))
    }

    fn find<'a>(&'a self, caller: &'a Caller, instance: &'a str) -> Answer<'a, Found> {
        Box::pin(Broker::find(self, caller, instance))
    }

    fn last_operation<'a>(
        &'a self,
        caller: &'a Caller,
        instance: &'a str,
        operation: Option<&'a str>,
    ) -> Answer<'a, LastOperation> {
        Box::pin(Broker::last_operation(self, caller, instance, operation))
    }
}
