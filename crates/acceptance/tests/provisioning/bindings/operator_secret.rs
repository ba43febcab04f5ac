//! The BTP operator's Secret in a runtime is compared with the order, and not changed; the job `drift` names the keys that differ.

use std::{sync::Arc, time::Duration};

use broker::{
    bindings::Bindings,
    jobs::{self, Aws, Azure, Jobs},
};
use clients::{
    Component, Gate,
    aws::{self, Market},
    azure::{self, Cloud},
    btp::ManagerState,
    gardener::BindingKind,
};
use engine::{Engine, State};
use serde_json::{Value, json};
use store::EngineStore;

use super::{BoundRuntime, use_cases};
use crate::{service::CALLS, test_broker::Broker};

const SECRETS: &str = "secrets";
const NAMESPACE: &str = "kyma-system";
const NAME: &str = "sap-btp-manager";

impl BoundRuntime {
    async fn compared(&self) -> ManagerState {
        let row = self.instance().await;
        let wanted = Bindings::operator_secret(&row).unwrap();
        self.bindings.compare_operator_secret(&row, &wanted).await.unwrap()
    }

    fn write_operator_secret(&self, part: &Value) {
        let mut secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": NAME, "namespace": NAMESPACE},
        });
        for (key, value) in part.as_object().unwrap() {
            match key.as_str() {
                "labels" => secret["metadata"]["labels"] = value.clone(),
                key => secret[key] = value.clone(),
            }
        }
        let server = self.outside.running.clusters().server();
        server.apply(&self.order.shoot_name, "somebody", &secret).unwrap();
    }
}

/// The jobs of the broker, on an engine that takes the place of its own.
struct RunningJobs {
    jobs: Jobs,
    engine: Engine<EngineStore>,
}

impl RunningJobs {
    async fn of(runtime: &BoundRuntime) -> Self {
        let (outside, broker): (_, &Broker) = (&runtime.outside, &runtime.broker);
        let clock = &outside.clock;
        let env = Box::pin(outside.env(clock)).await;
        let gate = |component| Gate::new(component, CALLS, clock.clone());
        let settings =
            jobs::Settings { settled: Duration::from_millis(1), ..jobs::Settings::default() };
        let env = Arc::new(jobs::Env {
            broker: use_cases(outside, broker, clock),
            bindings: runtime.bindings.clone(),
            gardener: env.gardener,
            account_bindings: BindingKind::Secret,
            provisioner: env.provisioner,
            events: None,
            aws: Aws { endpoint: None, market: Market::Global, gate: gate(aws::COMPONENT) },
            azure: Azure {
                cloud: Cloud::public(),
                gate: gate(azure::COMPONENT),
                tokens: gate(Component::ISSUER),
            },
            settings,
        });
        broker.engine.kill();
        let settings = engine::Settings { pace: 1_000.0, ..engine::Settings::default() };
        let storage = Arc::new(broker.store.engine().clone());
        let engine = Engine::builder(storage, clock.clone(), settings);
        let engine = engine.serve(jobs::plan(), env.clone()).unwrap().start();
        Self { jobs: Jobs::new(env), engine }
    }

    /// The details that `drift` reports.
    async fn drift(&self, runtime: &BoundRuntime) -> Vec<String> {
        let started = self.jobs.run("drift", false, "jo").await.unwrap();
        assert!(started.started);
        let ended = runtime.broker.end_of(started.operation.uuid()).await;
        assert_eq!(ended.state, State::Succeeded, "{:?}", ended.failure);
        let run = self.jobs.find("drift").await.unwrap().last_run.unwrap();
        let id = &runtime.order.instance_id;
        let told = |it: &jobs::Detail| {
            assert_eq!((&it.item, it.outcome), (id, jobs::Outcome::Done));
            it.text.clone()
        };
        run.report.details.iter().map(told).collect()
    }
}

impl Drop for RunningJobs {
    fn drop(&mut self) {
        self.engine.kill();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_somebody_changed_or_removed_is_seen_unless_a_label_says_otherwise() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let jobs = Box::pin(RunningJobs::of(&runtime)).await;
    let secret = "the Secret kyma-system/sap-btp-manager";
    assert_eq!(runtime.compared().await, ManagerState::Same);
    assert_eq!(jobs.drift(&runtime).await, Vec::<String>::new());

    runtime.write_operator_secret(&json!({"data": {"clientid": "b3RoZXI=", "sm_url": "b3RoZXI="}}));
    assert_eq!(runtime.compared().await, ManagerState::Different(vec!["clientid", "sm_url"]));
    let told = format!("{secret} has other values than the order: clientid, sm_url");
    assert_eq!(jobs.drift(&runtime).await, [told]);
    runtime.write_operator_secret(&json!({
        "data": {"clientid": "b3RoZXI="}, "labels": {"kyma-project.io/skip-reconciliation": "true"},
    }));
    assert_eq!(runtime.compared().await, ManagerState::LeftAlone);
    assert_eq!(jobs.drift(&runtime).await, Vec::<String>::new());
    let server = runtime.outside.running.clusters().server();
    server.remove(&runtime.order.shoot_name, SECRETS, NAMESPACE, NAME).unwrap();
    assert_eq!(runtime.compared().await, ManagerState::Missing);
    assert_eq!(jobs.drift(&runtime).await, [format!("{secret} is missing in the runtime")]);
}
