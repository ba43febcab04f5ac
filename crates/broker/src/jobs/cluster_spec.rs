//! The fields of a Shoot that orders have too, and in which of them it differs from what the provisioner was sent.
//!
//! What a reader would get wrong: not every difference is listed. Gardener installs patches of Kubernetes by itself, unless the order forbids it;
//! fields without a value in the order are not compared; issuers in a `ConfigMap` are not read.

use std::{collections::BTreeSet, sync::Arc};

use clients::gardener::Shoot;
use serde_json::{Map, Value};

use crate::kubernetes_version::parts;

/// The fields of an issuer.
const OF_ISSUER: [&str; 6] =
    ["issuerURL", "clientID", "groupsClaim", "signingAlgs", "usernameClaim", "usernamePrefix"];

/// What many Shoots have in common: each different one is in memory once.
#[derive(Default)]
pub(super) struct SharedSpecs(BTreeSet<Arc<ClusterSpec>>);

impl SharedSpecs {
    pub(super) fn share(&mut self, spec: ClusterSpec) -> Arc<ClusterSpec> {
        if let Some(known) = self.0.get(&spec) {
            return known.clone();
        }
        let spec = Arc::new(spec);
        self.0.insert(spec.clone());
        spec
    }
}

/// What a Shoot is to be, as far as orders have it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClusterSpec {
    kubernetes: Option<String>,
    machine_type: Option<String>,
    minimum: Option<i64>,
    maximum: Option<i64>,
    issuer: Issuer,
}

/// The issuer of a Shoot's users.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Issuer {
    #[default]
    None,
    /// In the Shoot, as JSON.
    InShoot(String),
    /// In a `ConfigMap` that the Shoot names.
    InConfigMap,
}

impl ClusterSpec {
    pub(super) fn of(shoot: &Shoot) -> Self {
        let kubernetes = shoot.spec.kubernetes.as_ref();
        // Orders are about the first pool; others are added by hand.
        let pool = shoot.spec.provider.as_ref().and_then(|provider| provider.workers.first());
        let number = |field: &str| pool.and_then(|pool| pool[field].as_i64());
        let machine_type = pool.and_then(|pool| pool["machine"]["type"].as_str());
        let server = kubernetes.and_then(|kubernetes| kubernetes.rest.get("kubeAPIServer"));
        Self {
            kubernetes: kubernetes.and_then(|kubernetes| kubernetes.version.clone()),
            machine_type: machine_type.map(str::to_owned),
            minimum: number("minimum"),
            maximum: number("maximum"),
            issuer: server.map_or(Issuer::None, Issuer::of),
        }
    }

    /// In what it differs from the order that the provisioner was last sent, in words.
    pub(super) fn differences(&self, ordered: &Value) -> Vec<String> {
        let mut all = Vec::new();
        let mut differ = |name: &str, there: &str, ordered: &str| {
            all.push(format!("{name} is {there}, ordered {ordered}"));
        };
        let text = |field: &str| ordered[field].as_str().filter(|text| !text.is_empty());
        if let (Some(there), Some(wanted)) = (&self.kubernetes, text("kubernetesVersion")) {
            let patches = ordered["enableKubernetesVersionAutoUpdate"].as_bool().unwrap_or(true);
            if !is_same_version(there, wanted, patches) {
                differ("the version of Kubernetes", there, wanted);
            }
        }
        if let (Some(there), Some(wanted)) = (&self.machine_type, text("machineType"))
            && there != wanted
        {
            differ("the machine type", there, wanted);
        }
        for (name, there, field) in [
            ("the fewest nodes", self.minimum, "autoScalerMin"),
            ("the most nodes", self.maximum, "autoScalerMax"),
        ] {
            if let (Some(there), Some(wanted)) = (there, ordered[field].as_i64())
                && there != wanted
            {
                differ(name, &there.to_string(), &wanted.to_string());
            }
        }
        all.extend(self.issuer.difference(&ordered["oidcConfig"]));
        all
    }
}

impl Issuer {
    fn of(server: &Value) -> Self {
        let config_map = &server["structuredAuthentication"]["configMapName"];
        if config_map.as_str().is_some_and(|name| !name.is_empty()) {
            return Self::InConfigMap;
        }
        let issuer = &server["oidcConfig"];
        if issuer["issuerURL"].as_str().is_none_or(str::is_empty) {
            return Self::None;
        }
        let fields = OF_ISSUER.iter().map(|name| ((*name).to_owned(), issuer[*name].clone()));
        Self::InShoot(Value::Object(fields.collect::<Map<_, _>>()).to_string())
    }

    fn difference(&self, ordered: &Value) -> Option<String> {
        let url = ordered["issuerURL"].as_str().filter(|url| !url.is_empty())?;
        let there = match self {
            Self::InConfigMap => return None,
            Self::None => return Some(format!("the OIDC issuer {url} is missing")),
            Self::InShoot(there) => serde_json::from_str::<Value>(there).unwrap_or_default(),
        };
        if there["issuerURL"].as_str() != Some(url) {
            let there = there["issuerURL"].as_str().unwrap_or_default();
            return Some(format!("the OIDC issuer is {there}, ordered {url}"));
        }
        let differs = |name: &&str| has_value(&ordered[*name]) && ordered[*name] != there[*name];
        let fields: Vec<&str> = OF_ISSUER.into_iter().filter(differs).collect();
        (!fields.is_empty())
            .then(|| format!("the OIDC issuer {url} has another {}", fields.join(", ")))
    }
}

/// Whether a field has a value.
fn has_value(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}

/// Whether a version is the ordered one, or a later patch of it where Gardener may install patches.
fn is_same_version(there: &str, ordered: &str, patches: bool) -> bool {
    let later_patch = match (parts(there), parts(ordered)) {
        (Some([major, minor, patch]), Some([of_major, of_minor, of_patch])) => {
            (major, minor) == (of_major, of_minor) && patch > of_patch
        }
        _ => false,
    };
    there == ordered || (patches && later_patch)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ordered() -> Value {
        json!({
            "kubernetesVersion": "1.31.4", "enableKubernetesVersionAutoUpdate": true,
            "machineType": "m5.xlarge", "autoScalerMin": 3, "autoScalerMax": 20,
            "oidcConfig": {
                "issuerURL": "https://a.example.com", "clientID": "a", "groupsClaim": "groups",
                "signingAlgs": ["RS256"], "usernameClaim": "sub", "usernamePrefix": "-",
            },
        })
    }

    fn shoot(change: &Value) -> ClusterSpec {
        let mut spec = json!({
            "kubernetes": {"version": "1.31.4", "kubeAPIServer": {"oidcConfig": ordered()["oidcConfig"]}},
            "provider": {"workers": [{"machine": {"type": "m5.xlarge"}, "minimum": 3, "maximum": 20}]},
        });
        for (path, value) in change.as_object().unwrap() {
            *spec.pointer_mut(path).unwrap() = value.clone();
        }
        let shoot = serde_json::from_value(json!({"metadata": {}, "spec": spec})).unwrap();
        ClusterSpec::of(&shoot)
    }

    #[test]
    fn equal_shoots_are_in_memory_once() {
        let mut specs = SharedSpecs::default();
        let [first, second] = [json!({}), json!({})].map(|change| specs.share(shoot(&change)));
        let other = specs.share(shoot(&json!({"/kubernetes/version": "1.32.0"})));

        assert!(Arc::ptr_eq(&first, &second));
        assert_ne!(first, other);
    }

    #[test]
    fn each_field_that_differs_is_named_with_both_values() {
        let issuer = "/kubernetes/kubeAPIServer/oidcConfig";
        let client = format!("{issuer}/clientID");
        for (change, expected) in [
            (json!({}), None),
            (json!({"/kubernetes/version": "1.31.9"}), None),
            (
                json!({"/kubernetes/version": "1.31.3"}),
                Some("the version of Kubernetes is 1.31.3, ordered 1.31.4"),
            ),
            (
                json!({"/kubernetes/version": "1.32.0"}),
                Some("the version of Kubernetes is 1.32.0, ordered 1.31.4"),
            ),
            (
                json!({"/provider/workers/0/machine/type": "m5.large"}),
                Some("the machine type is m5.large, ordered m5.xlarge"),
            ),
            (json!({"/provider/workers/0/minimum": 1}), Some("the fewest nodes is 1, ordered 3")),
            (json!({"/provider/workers/0/maximum": 40}), Some("the most nodes is 40, ordered 20")),
            (json!({issuer: null}), Some("the OIDC issuer https://a.example.com is missing")),
            (
                json!({client: "b"}),
                Some("the OIDC issuer https://a.example.com has another clientID"),
            ),
            (
                json!({issuer: {"issuerURL": "https://b.example.com"}}),
                Some("the OIDC issuer is https://b.example.com, ordered https://a.example.com"),
            ),
        ] {
            let found = shoot(&change).differences(&ordered());

            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{change}");
        }
    }

    #[test]
    fn a_patch_that_gardener_installs_is_a_difference_where_the_order_forbids_it() {
        let order =
            json!({"kubernetesVersion": "1.31.4", "enableKubernetesVersionAutoUpdate": false});
        let raised = shoot(&json!({"/kubernetes/version": "1.31.9"}));

        assert_eq!(raised.differences(&order).len(), 1);
        assert_eq!(raised.differences(&json!({"kubernetesVersion": "1.31.4"})), [""; 0]);
    }

    #[test]
    fn what_an_order_does_not_say_is_not_compared() {
        let empty = json!({
            "kubernetesVersion": "", "machineType": null,
            "oidcConfig": {"issuerURL": "", "clientID": ""},
        });

        assert_eq!(shoot(&json!({})).differences(&json!({})), [""; 0]);
        assert_eq!(shoot(&json!({})).differences(&empty), [""; 0]);
        assert_eq!(ClusterSpec::default().differences(&json!({"machineType": "a"})), [""; 0]);
    }

    #[test]
    fn an_issuer_in_a_config_map_is_not_missing_and_one_that_an_upgrade_took_is() {
        let server = |change: Value| shoot(&json!({"/kubernetes/kubeAPIServer": change}));
        let structured =
            server(json!({"structuredAuthentication": {"configMapName": "kcp-oidc-1"}}));
        let taken = server(json!({}));

        assert_eq!(structured.differences(&ordered()), [""; 0]);
        assert_eq!(
            taken.differences(&ordered()),
            ["the OIDC issuer https://a.example.com is missing"]
        );
    }
}
