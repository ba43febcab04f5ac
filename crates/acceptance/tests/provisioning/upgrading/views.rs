//! Views of the world after an upgrade.

use broker::Details;
use clients::{
    Gate,
    spc::{self, Event, EventReceipt, EventType, Spc, Tenant},
};
use serde_json::{Value, json};
use simulators::ledger::{Filter, Phase};

use super::ORCHESTRATION;
use crate::{outside::Outside, service::at};

/// The status of each evaluation of a runtime.
pub(super) fn evaluations(outside: &Outside, details: &Details) -> Vec<Value> {
    let ids = [details.avs.internal_id, details.avs.external_id].into_iter().flatten();
    let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    let mut all = outside.objects("avs");
    all.retain(|object| object.kind == "evaluation" && ids.contains(&object.id));
    all.into_iter().map(|object| object.value["status"].clone()).collect()
}

/// The notification of the customer about an instance.
pub(super) fn notice(outside: &Outside, instance: &str) -> Value {
    let all = outside.objects("spc");
    let event = all.into_iter().find(|object| object.id == ORCHESTRATION.to_string());
    let event = event.map_or(Value::Null, |event| event.value);
    let tenant = &event["tenants"][instance];
    json!([event["kind"], tenant["progress"]])
}

/// The version of Kyma that the Reconciler has for a runtime, and how many configurations it was given.
pub(crate) fn reconciled(outside: &Outside, runtime: &str) -> Value {
    let all = outside.objects("reconciler");
    let found = all.into_iter().find(|object| object.id == runtime).unwrap().value;
    let configurations = found["configurations"].as_array().map(Vec::len);
    json!([found["kyma"]["version"], found["status"], configurations])
}

/// The version of Kubernetes that a Shoot has.
pub(crate) fn kubernetes(outside: &Outside, shoot: &str) -> Value {
    let all = outside.running.clusters().server().list("garden", "shoots.core.gardener.cloud");
    let found = all.iter().find(|it| it["metadata"]["name"] == *shoot).unwrap();
    found["spec"]["kubernetes"]["version"].clone()
}

impl Outside {
    /// How often customers were told something new.
    pub(super) fn told(&self) -> usize {
        let filter = Filter { phase: Some(Phase::Applied), ..Filter::default() };
        let all = self.running.landscape.ledger().all(&filter).unwrap();
        all.iter().filter(|entry| entry.about.system == "spc").count()
    }

    /// Makes the event of the orchestration, as the orchestration does before its first upgrade.
    pub(super) async fn announce(&self) {
        self.announce_event(EventType::Kyma, Vec::new()).await;
    }

    /// Announces the upgrade of an instance, as the orchestration does before its first upgrade.
    pub(super) async fn announce_planned(&self, instance: &str, event_type: EventType) {
        let planned = Tenant::planned(instance, self.clock.now(), None);
        self.announce_event(event_type, vec![planned]).await;
    }

    async fn announce_event(&self, event_type: EventType, tenants: Vec<Tenant>) {
        let settings = spc::Settings { url: at(&self.running, "/spc") };
        let gate = Gate::new(spc::COMPONENT, self.calls, self.clock.clone());
        let event = Event { orchestration_id: ORCHESTRATION.to_string(), event_type, tenants };
        let created = Spc::new(settings, gate).unwrap().create(&event).await.unwrap();
        assert_eq!(created, EventReceipt::Now);
    }
}
