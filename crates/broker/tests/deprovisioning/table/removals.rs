//! Removals by one of the plans, one after the other in one landscape, with trouble.

use clients::gardener::BindingKind;
use engine::testing::TrialResult;
use serde_json::json;
use simulators::trouble::Rule;

use crate::{furnishing::FurnishedParts, generated::Trying};

pub(super) struct Removals {
    pub(super) trying: Trying,
}

impl Removals {
    /// By the legacy plan, or by the other one.
    pub(super) async fn by(legacy: bool) -> Self {
        let trying = if legacy {
            Trying::older(false).await
        } else {
            Trying::new(FurnishedParts::ALL, false).await
        };
        Self { trying }
    }

    /// Takes one removal to its end.
    pub(super) async fn once(&self) -> TrialResult {
        self.trying.once().await
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
        let env = landscape.env_without_rows(&landscape.clock).await;
        let bindings = landscape.bindings().await;
        let taken = "tenantName,!internal,!shared";
        let taken = env.gardener.pool(BindingKind::Secret).list(taken).await.unwrap();
        for one in taken {
            let free = json!({"metadata": {"labels": {"dirty": null, "tenantName": null}}});
            bindings.merge(one.name(), &free).await.unwrap();
        }
    }
}
