//! Gardener's information about a Shoot in its cluster: the data of the `ConfigMap` `kube-system/shoot-info`.

use cluster::Server;
use serde_json::{Map, Value, json};

use super::shoot::Shoot;

/// The `ConfigMap` in the namespace `kube-system`.
pub(crate) const NAME: &str = "shoot-info";
/// Its key for the version of Kubernetes, which is what the API server says at `/version`.
const VERSION: &str = "kubernetesVersion";

/// Where each entry comes from.
const ENTRIES: [(&str, &str); 9] = [
    (VERSION, "/spec/kubernetes/version"),
    ("provider", "/spec/provider/type"),
    ("region", "/spec/region"),
    ("domain", "/spec/dns/domain"),
    ("podNetwork", "/spec/networking/pods"),
    ("serviceNetwork", "/spec/networking/services"),
    ("nodeNetwork", "/spec/networking/nodes"),
    ("maintenanceBegin", "/spec/maintenance/timeWindow/begin"),
    ("maintenanceEnd", "/spec/maintenance/timeWindow/end"),
];

/// The version of Kubernetes in a runtime's `ConfigMap`.
pub(crate) fn version_of(server: &Server, runtime: &str) -> Option<String> {
    let info = server.get(runtime, "configmaps", "kube-system", NAME)?;
    Some(info["data"][VERSION].as_str()?.to_owned())
}

/// The data.
pub(super) fn of(shoot: Shoot<'_>, project: &str) -> Value {
    let entries = ENTRIES.iter().filter_map(|(key, path)| Some((*key, shoot.text(path)?)));
    let fixed = [("shootName", shoot.name()), ("projectName", project)];
    let data = entries.chain(fixed).map(|(key, value)| (key.to_owned(), json!(value)));
    Value::Object(data.collect::<Map<_, _>>())
}
