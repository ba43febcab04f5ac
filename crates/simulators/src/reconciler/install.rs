//! Objects of the Reconciler in a runtime: for every component its namespace and a Deployment of its version.
//!
//! What a reader would get wrong: nothing runs. The Deployments say that they are ready, and `kubectl` shows them.

use serde_json::{Value, json};

use super::records::Config;
use crate::{clusters::Visits, runtime::deployment};

/// Marks what is the Reconciler's.
const MANAGED_BY: (&str, &str) = ("reconciler.kyma-project.io/managed-by", "reconciler");
const DEPLOYMENTS: &str = "deployments.apps";

/// Puts a configuration into a runtime, and takes out what is not in it any more.
pub(super) fn install(visits: &dyn Visits, runtime: &str, config: &Config) -> Result<(), String> {
    let wanted = deployments(config);
    for deployment in &wanted {
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": deployment["metadata"]["namespace"]},
        });
        visits.put(runtime, &namespace)?;
        visits.put(runtime, deployment)?;
    }
    let place = |it: &Value| (it["metadata"]["namespace"].clone(), it["metadata"]["name"].clone());
    let kept: Vec<_> = wanted.iter().map(place).collect();
    remove(visits, runtime, |found| !kept.contains(&place(found)))
}

/// Takes everything of the Reconciler's out of a runtime.
pub(super) fn uninstall(visits: &dyn Visits, runtime: &str) -> Result<(), String> {
    remove(visits, runtime, |_| true)
}

fn remove(
    visits: &dyn Visits,
    runtime: &str,
    which: impl Fn(&Value) -> bool,
) -> Result<(), String> {
    for found in visits.list(runtime, DEPLOYMENTS) {
        if found["metadata"]["labels"][MANAGED_BY.0] == MANAGED_BY.1 && which(&found) {
            visits.take(runtime, DEPLOYMENTS, &found)?;
        }
    }
    Ok(())
}

fn deployments(config: &Config) -> Vec<Value> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let kyma = text(&config.says["version"]).unwrap_or_default();
    let components = config.says["components"].as_array().into_iter().flatten();
    let one = |component: &Value| {
        let name = text(&component["component"])?;
        let namespace = text(&component["namespace"]).unwrap_or_else(|| "kyma-system".into());
        let version = text(&component["version"]).unwrap_or_else(|| kyma.clone());
        let mut deployment = deployment(&name, &namespace, &version);
        deployment["metadata"]["labels"][MANAGED_BY.0] = MANAGED_BY.1.into();
        Some(deployment)
    };
    components.filter_map(one).collect()
}
