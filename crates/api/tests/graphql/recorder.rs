//! Stands where the use cases stand: writes down what was asked and gives prepared answers.

use std::sync::Mutex;

use api::graphql::{Answer, Runtimes};
use provisioner::{
    Caller, Error,
    limits::{Limits, Longest},
    requests::{Provision, Upgrade, UpgradeShoot},
    status::{OperationStatus, OperationType, Parts, RuntimeStatus},
};

use crate::sample;

/// An id behind which a use case breaks.
pub(crate) const BREAKING: &str = "breaking";

/// What was asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    Provision(Box<Provision>),
    Upgrade(String, Upgrade),
    UpgradeShoot(String, Box<UpgradeShoot>),
    Deprovision(String, bool),
    Hibernate(String),
    Reconnect(String),
    RollBack(String, Parts),
    Runtime(String, Parts),
    Operation(String),
}

impl Asked {
    /// The kind of operation that it starts.
    fn starts(&self) -> Option<OperationType> {
        match self {
            Self::Provision(request) if request.kyma.is_some() => Some(OperationType::Provision),
            Self::Provision(_) => Some(OperationType::ProvisionNoInstall),
            Self::Upgrade(..) => Some(OperationType::Upgrade),
            Self::UpgradeShoot(..) => Some(OperationType::UpgradeShoot),
            Self::Deprovision(..) => Some(OperationType::Deprovision),
            Self::Hibernate(_) => Some(OperationType::Hibernate),
            Self::Reconnect(_) => Some(OperationType::ReconnectRuntime),
            Self::RollBack(..) | Self::Runtime(..) | Self::Operation(_) => None,
        }
    }
}

/// Prepared answers, and a list of what was asked.
pub(crate) struct Recorder {
    pub(crate) operation: Mutex<Result<OperationStatus, Error>>,
    pub(crate) runtime: Mutex<Result<RuntimeStatus, Error>>,
    calls: Mutex<Vec<(Caller, Asked)>>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            operation: Mutex::new(Ok(sample::operation())),
            runtime: Mutex::new(Ok(sample::runtime(sample::aws()))),
            calls: Mutex::default(),
        }
    }

    /// Everything fails from now on.
    pub(crate) fn fail(&self, error: &Error) {
        *self.operation.lock().unwrap() = Err(error.clone());
        *self.runtime.lock().unwrap() = Err(error.clone());
    }

    /// What was asked so far, in order; it is forgotten then.
    pub(crate) fn calls(&self) -> Vec<(Caller, Asked)> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    /// The one thing that was asked.
    pub(crate) fn asked(&self) -> Asked {
        let mut calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls.remove(0).1
    }

    fn note(&self, caller: &Caller, asked: Asked) {
        self.calls.lock().unwrap().push((caller.clone(), asked));
    }

    fn on_operation(&self, caller: &Caller, asked: Asked, id: &str) -> Answer<'_, OperationStatus> {
        let mut answer = self.operation.lock().unwrap().clone();
        if let (Ok(answer), Some(kind)) = (&mut answer, asked.starts()) {
            answer.kind = kind;
        }
        self.note(caller, asked);
        let id = id.to_owned();
        Box::pin(async move {
            assert_ne!(id, BREAKING, "secret /etc/path");
            if id == sample::UNKNOWN { Err(sample::unknown()) } else { answer }
        })
    }

    fn on_runtime(&self, caller: &Caller, asked: Asked, id: &str) -> Answer<'_, RuntimeStatus> {
        let mut answer = self.runtime.lock().unwrap().clone();
        if let (Ok(answer), Asked::RollBack(_, parts) | Asked::Runtime(_, parts)) =
            (&mut answer, &asked)
        {
            answer.kubeconfig = answer.kubeconfig.take().filter(|_| parts.kubeconfig);
        }
        self.note(caller, asked);
        let id = id.to_owned();
        Box::pin(async move { if id == sample::UNKNOWN { Err(sample::unknown()) } else { answer } })
    }
}

impl Runtimes for Recorder {
    fn provision<'a>(
        &'a self,
        caller: &'a Caller,
        request: Provision,
    ) -> Answer<'a, OperationStatus> {
        self.on_operation(caller, Asked::Provision(Box::new(request)), "")
    }

    fn upgrade<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        request: Upgrade,
    ) -> Answer<'a, OperationStatus> {
        self.on_operation(caller, Asked::Upgrade(runtime.into(), request), runtime)
    }

    fn upgrade_shoot<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        request: UpgradeShoot,
    ) -> Answer<'a, OperationStatus> {
        self.on_operation(caller, Asked::UpgradeShoot(runtime.into(), Box::new(request)), runtime)
    }

    fn deprovision<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        supersede: bool,
    ) -> Answer<'a, OperationStatus> {
        self.on_operation(caller, Asked::Deprovision(runtime.into(), supersede), runtime)
    }

    fn hibernate<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
    ) -> Answer<'a, OperationStatus> {
        self.on_operation(caller, Asked::Hibernate(runtime.into()), runtime)
    }

    fn reconnect_agent<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
    ) -> Answer<'a, OperationStatus> {
        self.on_operation(caller, Asked::Reconnect(runtime.into()), runtime)
    }

    fn roll_back_upgrade<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        parts: Parts,
    ) -> Answer<'a, RuntimeStatus> {
        self.on_runtime(caller, Asked::RollBack(runtime.into(), parts), runtime)
    }

    fn runtime_status<'a>(
        &'a self,
        caller: &'a Caller,
        runtime: &'a str,
        parts: Parts,
    ) -> Answer<'a, RuntimeStatus> {
        self.on_runtime(caller, Asked::Runtime(runtime.into(), parts), runtime)
    }

    fn operation_status<'a>(
        &'a self,
        caller: &'a Caller,
        operation: &'a str,
    ) -> Answer<'a, OperationStatus> {
        self.on_operation(caller, Asked::Operation(operation.into()), operation)
    }

    fn longest(&self) -> Longest {
        Limits::default().longest()
    }
}
