//! Use cases that answer as they are told and remember what they were asked.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use api::osb::{Answer, Instances};
use broker::{
    Context,
    instances::{
        Caller, Deprovision, Error, Found, LastOperation, Progress, Provision, Provisioned, Record,
    },
};
use domain::{OperationId, parameters::Provisioning};
use serde_json::{Value, json};

pub(crate) const OPERATION: &str = "018f0000-0000-7000-8000-000000000001";

type Refuse = Box<dyn Fn() -> Error + Send + Sync>;

#[derive(Default)]
pub(crate) struct Canned {
    refusal: Mutex<Option<Refuse>>,
    calls: Mutex<Vec<(Caller, String)>>,
    pub(crate) complete: Mutex<bool>,
    pub(crate) failed: Mutex<bool>,
}

impl Canned {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Answers everything from now on with this error.
    pub(crate) fn refuse(&self, error: impl Fn() -> Error + Send + Sync + 'static) {
        *self.refusal.lock().unwrap() = Some(Box::new(error));
    }

    /// Who has asked for what.
    pub(crate) fn calls(&self) -> Vec<(Caller, String)> {
        self.calls.lock().unwrap().clone()
    }

    fn answer<T: Send + 'static>(
        &self,
        caller: &Caller,
        asked: String,
        good: T,
    ) -> Answer<'static, T> {
        self.calls.lock().unwrap().push((caller.clone(), asked));
        let refusal = self.refusal.lock().unwrap().as_ref().map(|refuse| refuse());
        Box::pin(std::future::ready(refusal.map_or(Ok(good), Err)))
    }
}

fn labels() -> BTreeMap<&'static str, String> {
    [("Name", "dev <1>".to_owned())].into()
}

impl Instances for Canned {
    fn catalog(&self, region: Option<&str>) -> Value {
        assert_ne!(region, Some("breaking"), "secret /etc/path");
        json!({"services": [], "region": region})
    }

    fn provision<'a>(&'a self, caller: &'a Caller, request: Provision) -> Answer<'a, Provisioned> {
        let asked = format!(
            "provision {} in {:?}: {} {} {} {}",
            request.instance_id,
            request.region,
            request.service_id,
            request.plan_id,
            request.context.unwrap_or_default(),
            request.parameters.unwrap_or_default(),
        );
        let complete = *self.complete.lock().unwrap();
        let good = Provisioned {
            operation: (!complete).then(|| OPERATION.parse().unwrap()),
            dashboard_url: "https://dashboard.test/?kubeconfigID=i-1".into(),
            labels: labels(),
        };
        self.answer(caller, asked, good)
    }

    fn deprovision<'a>(
        &'a self,
        caller: &'a Caller,
        request: Deprovision,
    ) -> Answer<'a, OperationId> {
        self.answer(
            caller,
            format!("deprovision {}", request.instance_id),
            OPERATION.parse().unwrap(),
        )
    }

    fn find<'a>(&'a self, caller: &'a Caller, instance: &'a str) -> Answer<'a, Found> {
        let good = Found {
            service_id: "s".into(),
            plan_id: "p".into(),
            dashboard_url: "https://dashboard.test".into(),
            record: Record {
                plan_id: "p".into(),
                service_id: "s".into(),
                ers_context: Context::default(),
                parameters: Provisioning { name: "dev".into(), ..Provisioning::default() },
                platform_region: "cf-eu10".into(),
                platform_provider: "AWS",
            },
            labels: labels(),
        };
        self.answer(caller, format!("find {instance}"), good)
    }

    fn last_operation<'a>(
        &'a self,
        caller: &'a Caller,
        instance: &'a str,
        operation: Option<&'a str>,
    ) -> Answer<'a, LastOperation> {
        let failed = *self.failed.lock().unwrap();
        let good = LastOperation {
            progress: if failed { Progress::Failed } else { Progress::InProgress },
            description: "step 7 of 17: waiting for the cluster, 12 min, usually 14–19 min".into(),
            retry_after: (!failed).then_some(Duration::from_secs(20)),
            instance_usable: failed.then_some(false),
        };
        self.answer(caller, format!("follow {operation:?} of {instance}"), good)
    }
}
