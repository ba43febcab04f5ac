//! What was last sent for runtimes, without what nobody may read.

use std::collections::HashMap;

use serde_json::{Value, json};
use store::{BrokerStore, broker::RuntimeState};
use uuid::Uuid;

use super::{Ask, item::Known};
use crate::instances::Error;

/// What was last sent, by runtime.
#[derive(Default)]
pub(super) struct Configs {
    pub(super) kyma: HashMap<Uuid, Value>,
    pub(super) cluster: HashMap<Uuid, Value>,
}

impl Configs {
    /// Reads what is asked for: one statement for each sort.
    pub(super) async fn read(
        store: &BrokerStore,
        ask: &Ask,
        known: &[Known],
    ) -> Result<Self, Error> {
        let runtimes: Vec<Uuid> = known.iter().filter_map(Known::runtime).collect();
        let mut configs = Self::default();
        if ask.kyma_config {
            let found = store.latest_runtime_states(&runtimes, "cluster-setup").await?;
            configs.kyma = found.iter().filter_map(|state| part(state, "/kymaConfig")).collect();
            configs.kyma.values_mut().for_each(hide_secrets);
        }
        if ask.cluster_config {
            let found = store.latest_runtime_states(&runtimes, "cluster-config").await?;
            configs.cluster = found.iter().filter_map(cluster).collect();
        }
        Ok(configs)
    }
}

fn part(state: &RuntimeState, path: &str) -> Option<(Uuid, Value)> {
    let mut payload: Value = serde_json::from_slice(&state.payload).ok()?;
    payload.pointer_mut(path).map(|part| (state.runtime, part.take()))
}

/// The cluster that was ordered, and who administers it.
fn cluster(state: &RuntimeState) -> Option<(Uuid, Value)> {
    let (runtime, mut ordered) = part(state, "/clusterConfig")?;
    let administrators = ordered["administrators"].take();
    let mut cluster = ordered.get_mut("gardenerConfig")?.take();
    if administrators.is_array() {
        cluster.as_object_mut()?.insert("administrators".into(), administrators);
    }
    Some((runtime, cluster))
}

/// Takes the values of secret settings away, wherever they stand.
fn hide_secrets(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("secret") == Some(&json!(true)) {
                fields.insert("value".into(), json!("[REDACTED]"));
            }
            fields.values_mut().for_each(hide_secrets);
        }
        Value::Array(values) => values.iter_mut().for_each(hide_secrets),
        _ => {}
    }
}
