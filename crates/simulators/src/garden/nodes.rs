//! The nodes of a Shoot: as many as each worker pool has at least, spread over its zones.
//!
//! What a reader would get wrong: nothing runs on them. They are there to be looked at.

use serde_json::{Value, json};

use super::shoot::Shoot;

/// The most nodes that are shown of one pool.
const MOST: u64 = 20;

/// What `kubectl get nodes` shows.
pub(super) fn of(shoot: Shoot<'_>, project: &str) -> Vec<Value> {
    let spec = &shoot.0.data["spec"];
    let version = spec["kubernetes"]["version"].as_str().unwrap_or_default();
    let region = spec["region"].as_str().unwrap_or_default();
    let pools = spec["provider"]["workers"].as_array().into_iter().flatten();
    let of_pool = |pool: &Value| -> Vec<Value> {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (name, machine) = (word(&pool["name"]), word(&pool["machine"]["type"]));
        let zones: Vec<String> = pool["zones"].as_array().into_iter().flatten().map(word).collect();
        let count = pool["minimum"].as_u64().unwrap_or(1).clamp(1, MOST);
        let node = |at: u64| {
            let zone = zones.get(usize::try_from(at).unwrap_or(0) % zones.len().max(1));
            let zone = zone.cloned().unwrap_or_default();
            node(
                &format!("shoot--{project}--{}-{name}-{at}", shoot.name()),
                version,
                [
                    ("pool", &name),
                    ("machine", &machine),
                    ("region", &region.to_owned()),
                    ("zone", &zone),
                ],
            )
        };
        (0..count).map(node).collect()
    };
    pools.flat_map(of_pool).collect()
}

fn node(name: &str, version: &str, about: [(&str, &String); 4]) -> Value {
    let said = |word: &str| about.iter().find(|(key, _)| *key == word).map(|(_, value)| value);
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name,
            "node.kubernetes.io/instance-type": said("machine"),
            "topology.kubernetes.io/region": said("region"),
            "topology.kubernetes.io/zone": said("zone"),
            "worker.gardener.cloud/pool": said("pool"),
        }},
        "status": {
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "KubeletReady",
                "message": "kubelet is posting ready status",
            }],
            "nodeInfo": {"kubeletVersion": format!("v{version}"), "architecture": "amd64"},
        },
    })
}
