//! The last configurations of runtimes, without secrets.

use std::collections::HashMap;

use serde_json::{Value, json};
use store::{BrokerStore, broker::RuntimeState};
use uuid::Uuid;

use super::{RuntimesQuery, item::RuntimeRecord};
use crate::instances::Error;

/// The last configuration that was sent, by runtime.
#[derive(Default)]
pub(super) struct Configs {
    pub(super) kyma: HashMap<Uuid, Value>,
    pub(super) cluster: HashMap<Uuid, Value>,
}

impl Configs {
    /// Reads what is asked for: one statement for each sort.
    pub(super) async fn read(
        store: &BrokerStore,
        ask: &RuntimesQuery,
        known: &[RuntimeRecord],
    ) -> Result<Self, Error> {
        let runtimes: Vec<Uuid> = known.iter().filter_map(RuntimeRecord::runtime).collect();
        let mut configs = Self::default();
        if ask.kyma_config {
            let found = store.latest_runtime_states(&runtimes, "kyma-version").await?;
            configs.kyma = found.iter().filter_map(kyma).collect();
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
pub(crate) fn cluster(state: &RuntimeState) -> Option<(Uuid, Value)> {
    let (runtime, mut ordered) = part(state, "/clusterConfig")?;
    let administrators = ordered["administrators"].take();
    let mut cluster = ordered.get_mut("gardenerConfig")?.take();
    if administrators.is_array() {
        cluster.as_object_mut()?.insert("administrators".into(), administrators);
    }
    Some((runtime, cluster))
}

/// The Kyma that was ordered, from the Reconciler or from the provisioner, in the provisioner's form: clients know no other, and
/// read every value as a text.
pub(crate) fn kyma(state: &RuntimeState) -> Option<(Uuid, Value)> {
    let (runtime, ordered) = part(state, "/kymaConfig")?;
    let shown = json!({
        "version": ordered["version"],
        "profile": ordered["profile"],
        "components": list(&ordered["components"]).map(component).collect::<Vec<_>>(),
        "configuration": entries(&ordered["configuration"]),
        "conflictStrategy": ordered["conflictStrategy"],
    });
    Some((runtime, shown))
}

fn component(ordered: &Value) -> Value {
    // The Reconciler has another name for it, and says "" for none.
    let source = ordered.get("sourceURL").or_else(|| ordered.get("URL"));
    let source = source.and_then(Value::as_str).filter(|url| !url.is_empty());
    json!({
        "component": ordered["component"],
        "namespace": ordered["namespace"],
        "configuration": entries(&ordered["configuration"]),
        "sourceURL": source,
        "conflictStrategy": ordered["conflictStrategy"],
    })
}

/// Settings, without the values of those that are secret.
fn entries(ordered: &Value) -> Vec<Value> {
    let entry = |it: &Value| {
        let secret = it["secret"] == json!(true);
        let value = if secret { "[REDACTED]".to_owned() } else { text(&it["value"]) };
        json!({ "key": it["key"], "value": value, "secret": secret })
    };
    list(ordered).map(entry).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
