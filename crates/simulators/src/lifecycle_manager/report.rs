//! Status reports of the Lifecycle Manager.

use jiff::Timestamp;
use kube::{ResourceExt, api::DynamicObject};
use serde_json::{Value, json};

use super::decide::wanted;

/// Conditions that `kubectl wait` can use; their reason is always `Ready`.
const CONDITIONS: [&str; 5] =
    ["Modules", "ModuleCatalog", "SKRWebhook", "CRDsSync", "SKRImagePullSecretSync"];
/// The channels that have modules.
const CHANNELS: [&str; 3] = ["regular", "fast", "experimental"];

/// How the modules of a Kyma are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict<'a> {
    /// All there.
    Ready,
    /// There, with a but.
    Warning(&'a str),
    /// Not there.
    Error(&'a str),
}

/// Work has begun.
pub(super) fn begun(kyma: &DynamicObject, now: Timestamp) -> Value {
    json!({
        "state": "Processing",
        "conditions": conditions(kyma, "Unknown", now),
        "lastOperation": {"operation": "started processing", "lastUpdateTime": now},
    })
}

/// The Kyma is being deleted.
pub(super) fn deleting(now: Timestamp) -> Value {
    json!({
        "state": "Deleting",
        "lastOperation": {"operation": "waiting for modules to be deleted", "lastUpdateTime": now},
    })
}

/// Why the modules cannot all be there, if they cannot.
pub(super) fn missing_channel(kyma: &DynamicObject) -> Option<String> {
    let unknown = wanted(kyma).into_iter().find(|(_, channel)| !CHANNELS.contains(channel));
    unknown.map(|(name, channel)| {
        format!("no templates were found for module {name} in channel {channel}")
    })
}

/// How it ended.
pub(super) fn looked(kyma: &DynamicObject, verdict: Verdict<'_>, now: Timestamp) -> Value {
    let (state, holds, said) = match verdict {
        Verdict::Ready => ("Ready", "True", "kyma is ready"),
        Verdict::Warning(why) => ("Warning", "True", why),
        Verdict::Error(why) => ("Error", "False", why),
    };
    let namespace = kyma.namespace().unwrap_or_default();
    let modules: Vec<Value> = wanted(kyma)
        .into_iter()
        .map(|(name, channel)| module(&kyma.name_any(), &namespace, name, channel, state))
        .collect();
    json!({
        "state": state,
        "activeChannel": kyma.data["spec"]["channel"],
        "modules": modules,
        "conditions": conditions(kyma, holds, now),
        "lastOperation": {"operation": said, "lastUpdateTime": now},
    })
}

fn module(kyma: &str, namespace: &str, name: &str, channel: &str, state: &str) -> Value {
    let object = |version: &str, kind: &str, name: String| {
        json!({
            "apiVersion": format!("operator.kyma-project.io/{version}"),
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "generation": 1},
        })
    };
    json!({
        "name": name,
        "channel": channel,
        "version": "1.0.0",
        "state": state,
        "manifest": object("v1beta2", "Manifest", format!("{kyma}-{name}")),
        "resource": object("v1alpha1", "Module", "default".to_owned()),
        "template": object("v1beta2", "ModuleTemplate", format!("{name}-{channel}")),
    })
}

fn conditions(kyma: &DynamicObject, holds: &str, now: Timestamp) -> Value {
    let before = kyma.data["status"]["conditions"].as_array();
    let condition = |which: &str| {
        let same =
            before.into_iter().flatten().find(|one| one["type"] == which && one["status"] == holds);
        let since = same.map_or_else(|| json!(now), |one| one["lastTransitionTime"].clone());
        json!({
            "type": which,
            "status": holds,
            "reason": "Ready",
            "message": format!("{which}: {holds}"),
            "lastTransitionTime": since,
            "observedGeneration": kyma.metadata.generation,
        })
    };
    CONDITIONS.map(condition).into_iter().collect()
}
