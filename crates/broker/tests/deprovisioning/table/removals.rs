//! Removals by one of the plans, one after the other in one landscape, with trouble.
//!
//! What a reader would get wrong: nothing crashes here, so the database of a trial is opened once.

use std::sync::{Arc, Mutex};

use base::Clock;
use broker::operations::deprovisioning::{Deprovisioning, Limits, Systems, legacy};
use clients::gardener::BindingKind;
use engine::testing::{Scenario, Setting, Stores, Tried, try_out};
use serde_json::{Value, json};
use simulators::trouble::Rule;
use store::EngineStore;

use crate::{
    furnishing::Parts,
    generated::Trying,
    legacy::{PARTS, furnish_event_hubs},
};

pub(super) struct Removals {
    pub(super) trying: Trying,
    legacy: bool,
    opened: Opened,
}

/// What the newest trial keeps its operation in.
#[derive(Clone, Default)]
struct Opened(Arc<Mutex<Option<EngineStore>>>);

impl Stores for Opened {
    type Store = EngineStore;

    async fn create(&self, _: &Clock) -> Self {
        self.clone()
    }

    async fn open(&self) -> Arc<EngineStore> {
        Arc::new(self.0.lock().unwrap().clone().unwrap())
    }
}

impl Removals {
    /// By the plan of the older documents, or by the other one.
    pub(super) async fn by(legacy: bool) -> Self {
        let parts = if legacy { PARTS } else { Parts::ALL };
        Self { trying: Trying::new(parts, false).await, legacy, opened: Opened::default() }
    }

    /// Takes one removal to its end.
    pub(super) async fn once(&self) -> Tried {
        Box::pin(try_out(self, &self.opened, None)).await
    }

    pub(super) fn meet(&self, rule: Rule) {
        self.trying.landscape.running.landscape.troubles().add(rule).unwrap();
    }

    /// How many calls the troubles still wait for.
    pub(super) fn unmet(&self) -> Vec<(Option<String>, Option<u64>)> {
        let active = self.trying.landscape.running.landscape.troubles().active();
        active.into_iter().map(|rule| (rule.step, rule.calls)).collect()
    }

    /// Ends all trouble, and gives back the accounts that were kept because of it: there are few.
    pub(super) async fn calm(&self) {
        let landscape = &self.trying.landscape;
        landscape.calm();
        let env = landscape.env(&landscape.clock).await;
        let bindings = landscape.bindings().await;
        let taken = "tenantName,!internal,!shared";
        let taken = env.gardener.pool(BindingKind::Secret).list(taken).await.unwrap();
        for one in taken {
            let free = json!({"metadata": {"labels": {"dirty": null, "tenantName": null}}});
            bindings.merge(one.name(), &free).await.unwrap();
        }
    }
}

impl Scenario for Removals {
    type Operation = Deprovisioning;

    async fn fresh(&self, clock: &Clock) -> Setting<Deprovisioning> {
        let mut setting = self.trying.fresh(clock).await;
        *self.opened.0.lock().unwrap() = Some(setting.env.operations.clone());
        if self.legacy {
            let landscape = &self.trying.landscape;
            let eyes = landscape.env(&landscape.clock).await;
            furnish_event_hubs(landscape, &eyes, &setting.input.order).await;
            setting.plan = legacy::plan(&Limits::default(), Systems::of(&setting.env));
        }
        setting
    }

    fn comparable(&self, data: Value) -> Value {
        self.trying.comparable(data)
    }
}
