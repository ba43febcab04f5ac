//! The clusters as their operator sees them: three systems of the landscape.

use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    ClusterContext, SYSTEM_NAMESPACE,
    object_path::{CONTROL_PLANE, GARDEN},
    reach::OutageReason,
    watched::{CONTROL, GARDENER, RUNTIMES},
    wipe,
};
use crate::{
    garden::{self, Runtimes as _},
    lifecycle_manager,
    runtime::{ACTORS, CONNECTION, CONNECTIONS, INSTALLATION, INSTALLATIONS, SCENARIO},
    store::Error,
    system::{Object, OrderError, System},
};

const SHOOTS: &str = "shoots.core.gardener.cloud";
/// What the garden shows: kind and resource.
const IN_THE_GARDEN: [(&str, &str); 6] = [
    ("shoot", SHOOTS),
    ("secret-binding", "secretbindings.core.gardener.cloud"),
    ("credentials-binding", "credentialsbindings.security.gardener.cloud"),
    ("project", "projects.core.gardener.cloud"),
    ("cloud-profile", "cloudprofiles.core.gardener.cloud"),
    ("seed", "seeds.core.gardener.cloud"),
];
const IN_THE_CONTROL_PLANE: [(&str, &str); 4] = [
    ("kyma", "kymas.operator.kyma-project.io"),
    ("runtime", "runtimes.infrastructuremanager.kyma-project.io"),
    ("secret", "secrets"),
    ("config-map", "configmaps"),
];

/// All three.
pub(super) fn all(known: &Arc<ClusterContext>) -> Vec<Arc<dyn System>> {
    vec![
        Arc::new(Garden(known.clone())),
        Arc::new(ControlPlane(known.clone())),
        Arc::new(Runtimes(known.clone())),
    ]
}

struct Garden(Arc<ClusterContext>);
struct ControlPlane(Arc<ClusterContext>);
struct Runtimes(Arc<ClusterContext>);

/// The objects of some kinds in one cluster, without secrets.
fn shown(known: &ClusterContext, cluster: &str, kinds: &[(&'static str, &str)]) -> Vec<Object> {
    let mut objects = Vec::new();
    for (kind, resource) in kinds {
        for object in known.server.list(cluster, resource) {
            let mut value = (*object).clone();
            if let Some(map) = value.as_object_mut() {
                for secret in ["data", "stringData"] {
                    map.shift_remove(secret);
                }
                map.get_mut("metadata")
                    .and_then(Value::as_object_mut)
                    .map(|metadata| metadata.shift_remove("managedFields"));
            }
            let word = |key: &str| value["metadata"][key].as_str().map(str::to_owned);
            let parts: Vec<String> = ["namespace", "name"].into_iter().filter_map(word).collect();
            objects.push(Object { kind, id: parts.join("/"), value });
        }
    }
    objects
}

fn word<'a>(with: &'a Value, key: &str) -> Result<&'a str, OrderError> {
    with[key].as_str().ok_or_else(|| OrderError::Invalid(format!("\"{key}\" is missing")))
}

/// A scenario of these words, or none at all: a list separated by commas, each word with what it needs behind `=` or `@`.
fn scenario<'a>(with: &'a Value, key: &str, known: &[&str]) -> Result<&'a str, OrderError> {
    let text = word(with, key)?;
    let mut names =
        text.split(',').map(|said| said.split(['=', '@']).next().unwrap_or(said).trim());
    match names.find(|name| !name.is_empty() && !known.contains(name)) {
        None => Ok(text),
        Some(name) => Err(OrderError::Invalid(format!(
            "\"{key}\" has the word {name}, which is none of {}",
            known.join(", ")
        ))),
    }
}

fn failed(error: &(dyn std::error::Error + 'static)) -> OrderError {
    OrderError::Failed(base::failure::chain(error))
}

impl System for Garden {
    fn name(&self) -> &'static str {
        GARDENER
    }

    fn purpose(&self) -> &'static str {
        "makes clusters from Shoots"
    }

    fn base(&self) -> &'static str {
        "/clusters/garden"
    }

    fn orders(&self) -> &'static [&'static str] {
        &["scenario"]
    }

    fn objects(&self) -> Vec<Object> {
        shown(&self.0, GARDEN, &IN_THE_GARDEN)
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let Some((namespace, name)) = id.split_once('/').filter(|_| kind == "shoot") else {
            return Ok(false);
        };
        let found = self.0.server.get(GARDEN, SHOOTS, namespace, name).is_some();
        if found {
            wipe::shoots(&self.0, vec![(namespace.to_owned(), name.to_owned())]);
        }
        Ok(found)
    }

    /// Takes all Shoots away, with their runtimes. The Shoots themselves go a moment later.
    fn reset(&self) -> Result<(), Error> {
        let all = self.0.server.list(GARDEN, SHOOTS);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let names = all
            .iter()
            .map(|shoot| (text(&shoot["metadata"]["namespace"]), text(&shoot["metadata"]["name"])));
        wipe::shoots(&self.0, names.collect());
        Ok(())
    }

    /// `scenario`: with `name` and `scenario`, what shall go wrong with one Shoot; with `scenario`
    /// alone, with all that are made from now on.
    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        if name != "scenario" {
            return Err(OrderError::Unknown(name.into()));
        }
        let scenario = scenario(with, "scenario", garden::WORDS)?;
        let namespace = format!("garden-{}", self.0.garden.project);
        let object = match with["name"].as_str() {
            Some(name) => {
                let found = self.0.server.get(GARDEN, SHOOTS, &namespace, name);
                let missing = || OrderError::Invalid(format!("there is no Shoot {name}"));
                let found = found.ok_or_else(missing)?;
                json!({
                    "apiVersion": found["apiVersion"],
                    "kind": "Shoot",
                    "metadata": {
                        "name": name,
                        "namespace": namespace,
                        "annotations": {garden::SCENARIO: scenario},
                    },
                })
            }
            None => json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": garden::SCENARIO_DEFAULTS, "namespace": namespace},
                "data": {"shoots": scenario},
            }),
        };
        self.0.server.apply(GARDEN, "landscape", &object).map(drop).map_err(|error| failed(&error))
    }
}

impl System for ControlPlane {
    fn name(&self) -> &'static str {
        CONTROL
    }

    fn purpose(&self) -> &'static str {
        "the cluster that the control plane itself runs in"
    }

    fn base(&self) -> &'static str {
        "/clusters/kcp"
    }

    fn orders(&self) -> &'static [&'static str] {
        &["scenario"]
    }

    fn objects(&self) -> Vec<Object> {
        shown(&self.0, CONTROL_PLANE, &IN_THE_CONTROL_PLANE)
    }

    /// `scenario`: what shall go wrong with the Kyma `name`.
    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        if name != "scenario" {
            return Err(OrderError::Unknown(name.into()));
        }
        let name = word(with, "name")?;
        let scenario = scenario(with, "scenario", lifecycle_manager::WORDS)?;
        let namespace = with["namespace"].as_str().unwrap_or(SYSTEM_NAMESPACE);
        let found = self.0.server.get(CONTROL_PLANE, lifecycle_manager::KYMAS, namespace, name);
        let missing = || OrderError::Invalid(format!("there is no Kyma {name}"));
        let found = found.ok_or_else(missing)?;
        let object = json!({
            "apiVersion": found["apiVersion"],
            "kind": "Kyma",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "annotations": {lifecycle_manager::SCENARIO: scenario},
            },
        });
        let applied = self.0.server.apply(CONTROL_PLANE, "landscape", &object);
        applied.map(drop).map_err(|error| failed(&error))
    }

    fn delete(&self, _: &str, _: &str) -> Result<bool, Error> {
        Ok(false)
    }

    /// Empties its namespace, a moment later.
    fn reset(&self) -> Result<(), Error> {
        wipe::control_plane(&self.0);
        Ok(())
    }
}

impl System for Runtimes {
    fn name(&self) -> &'static str {
        RUNTIMES
    }

    fn purpose(&self) -> &'static str {
        "the clusters that Shoots stand for"
    }

    fn base(&self) -> &'static str {
        "/clusters"
    }

    fn orders(&self) -> &'static [&'static str] {
        &["refuse", "accept", "agent-disconnect", "scenario"]
    }

    fn objects(&self) -> Vec<Object> {
        let one = |id: String| {
            let get = |resource: &str, (namespace, name): (&str, &str)| {
                self.0.server.get(&id, resource, namespace, name).unwrap_or_default()
            };
            let value = json!({
                "unreachable": self.0.reach.closed(&id),
                "connection": get(CONNECTIONS, ("", CONNECTION))["status"]["connectionState"],
                "installation": get(INSTALLATIONS, INSTALLATION)["status"]["state"],
                "scenario": get("configmaps", SCENARIO)["data"],
                "namespaces": self.0.server.list(&id, "namespaces").len(),
            });
            Object { kind: "runtime", id, value }
        };
        self.0.runtimes().into_iter().map(one).collect()
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let found = kind == "runtime" && self.0.is_runtime(id);
        if found && let Err(error) = self.0.remove(id) {
            tracing::error!(error, runtime = id, "a runtime cannot be taken away");
        }
        Ok(found)
    }

    /// Makes all runtimes new and empty, and opens those that were closed.
    fn reset(&self) -> Result<(), Error> {
        for runtime in self.0.runtimes() {
            let renewed = self.0.remove(&runtime).and_then(|()| self.0.create(&runtime));
            if let Err(error) = renewed {
                tracing::error!(error, runtime, "a runtime cannot be made new");
            }
        }
        self.0.reach.reset()
    }

    /// `refuse` and `accept` close and open the runtime `id`; `agent-disconnect` takes its connection
    /// to the Director away; `scenario` says what shall go wrong with its `agent`, its `installer` and its `btp` operator.
    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        if !self.orders().contains(&name) {
            return Err(OrderError::Unknown(name.into()));
        }
        let id = word(with, "id")?;
        if !self.0.is_runtime(id) {
            return Err(OrderError::Invalid(format!("there is no runtime {id}")));
        }
        let data = match name {
            "refuse" => {
                return self
                    .0
                    .reach
                    .set(id, OutageReason::Refused, false)
                    .map_err(|error| failed(&error));
            }
            "accept" => {
                return self
                    .0
                    .reach
                    .set(id, OutageReason::Refused, true)
                    .map_err(|error| failed(&error));
            }
            // Followed once, and once more if it is given again.
            "agent-disconnect" => {
                json!({"agent": format!("disconnect={}", Uuid::new_v4().simple())})
            }
            _ => {
                let chosen = ACTORS.into_iter().filter(|(actor, _)| !with[*actor].is_null());
                let chosen = chosen.map(|(actor, known)| {
                    Ok((actor.to_owned(), scenario(with, actor, known)?.into()))
                });
                Value::Object(chosen.collect::<Result<_, OrderError>>()?)
            }
        };
        let object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": SCENARIO.1, "namespace": SCENARIO.0},
            "data": data,
        });
        self.0.server.apply(id, "landscape", &object).map(drop).map_err(|error| failed(&error))
    }
}
