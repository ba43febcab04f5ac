//! Whether the controllers have done all that they will do: only then two pictures of the world can be compared.
//!
//! What a reader would get wrong: it is read from the objects and from the bells of the actors, never from how long nothing
//! has happened. A runtime whose agent tries something again and again is never at rest.

use std::{sync::Arc, time::Duration};

use kube::{ResourceExt, api::DynamicObject};
use serde_json::Value;

use super::{
    ClusterContext,
    object_path::{CONTROL_PLANE, GARDEN},
};
use crate::{garden, lifecycle_manager};

/// What happens later than this by itself (the next reconciliation of a Shoot) does not count.
const SOON: Duration = Duration::from_mins(5);
/// How often [`RuntimeAccess::reached`] looks.
const LOOK: Duration = Duration::from_millis(5);
/// How often it looks before it gives up.
const LOOKS: usize = 24_000;

/// Where a Shoot says for which runtime it is, and a Kyma likewise.
const RUNTIME_ANNOTATION: &str = "kcp.provisioner.kyma-project.io/runtime-id";
const RUNTIME_LABEL: &str = "kyma-project.io/runtime-id";

#[derive(Clone)]
pub struct RuntimeAccess(pub(super) Arc<ClusterContext>);

impl RuntimeAccess {
    /// The pending work in a runtime and around it, a phrase for each.
    pub fn pending(&self, runtime: &str) -> Vec<String> {
        let busy = self.0.wakes.busy(runtime).into_iter();
        let mut pending: Vec<String> =
            busy.map(|actor| format!("{actor:?} is busy in {runtime}")).collect();
        if let Some(shoot) = self.shoot(runtime) {
            pending.extend(self.gardener(&shoot));
            pending.extend(self.kymas(&shoot));
        }
        pending
    }

    fn shoot(&self, name: &str) -> Option<DynamicObject> {
        let namespace = self.0.garden.namespace();
        let found = self.0.server.get(GARDEN, "shoots.core.gardener.cloud", &namespace, name)?;
        object(&found)
    }

    fn gardener(&self, shoot: &DynamicObject) -> Option<String> {
        let known = &self.0;
        let next = garden::next_move(shoot, &known.garden, &known.pace, known.clock.now())?;
        (next < SOON)
            .then(|| format!("Gardener changes the Shoot {} in {next:?}", shoot.name_any()))
    }

    /// The Kymas of the Shoot's runtime.
    fn kymas(&self, shoot: &DynamicObject) -> Vec<String> {
        let Some(id) = shoot.annotations().get(RUNTIME_ANNOTATION) else { return Vec::new() };
        let all = self.0.server.list(CONTROL_PLANE, lifecycle_manager::KYMAS);
        let ours = all.iter().filter(|kyma| kyma["metadata"]["labels"][RUNTIME_LABEL] == **id);
        let busy = ours
            .filter_map(|kyma| object(kyma))
            .filter(|kyma| !lifecycle_manager::is_at_rest(kyma, &self.0.lifecycle_manager));
        busy.map(|kyma| format!("the Lifecycle Manager changes {}", kyma.name_any())).collect()
    }

    /// Waits until nothing is pending in a runtime and around it.
    ///
    /// # Panics
    ///
    /// If that does not come about in minutes: it is for tests.
    pub async fn reached(&self, runtime: &str) {
        for _ in 0..LOOKS {
            if self.pending(runtime).is_empty() {
                return;
            }
            self.0.clock.sleep(LOOK).await;
        }
        panic!("{runtime} does not come to rest: {:?}", self.pending(runtime));
    }
}

fn object(value: &Value) -> Option<DynamicObject> {
    serde_json::from_value(value.clone()).ok()
}
