//! Gardener's extensions of a cluster.

use clients::gardener::Shoot;
use serde_json::{Value, json};

const FILTER: &str = "shoot-networking-filter";

/// The extensions of a new Shoot.
pub(super) fn all(filter_disabled: bool) -> Value {
    json!([
        {
            "type": "shoot-dns-service",
            "providerConfig": {
                "apiVersion": "service.dns.extensions.gardener.cloud/v1alpha1",
                "kind": "DNSConfig",
                "dnsProviderReplication": {"enabled": true},
            },
        },
        {
            "type": "shoot-cert-service",
            "providerConfig": {
                "apiVersion": "service.cert.extensions.gardener.cloud/v1alpha1",
                "kind": "CertConfig",
                "shootIssuers": {"enabled": true},
            },
        },
        filter(filter_disabled),
    ])
}

/// Switches the networking filter of a live Shoot; other extensions, and its own settings, stay.
pub(super) fn set_filter(extensions: &mut Value, disabled: bool) {
    let Some(list) = extensions.as_array_mut() else {
        *extensions = json!([filter(disabled)]);
        return;
    };
    match list.iter_mut().find(|extension| extension["type"] == FILTER) {
        Some(found) => found["disabled"] = json!(disabled),
        None => list.push(filter(disabled)),
    }
}

/// Whether the networking filter is switched off, if a live Shoot says so explicitly.
pub(crate) fn filter_disabled(shoot: &Shoot) -> Option<bool> {
    let list = shoot.spec.rest.get("extensions")?.as_array()?;
    list.iter().find(|extension| extension["type"] == FILTER)?["disabled"].as_bool()
}

fn filter(disabled: bool) -> Value {
    json!({"type": FILTER, "disabled": disabled})
}
