//! The Reconciler as its operator sees it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    BASE, Reconciler,
    records::{Event, Failing, Script},
};
use crate::{
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 7] = [
    "fail-rounds",
    "fail",
    "fail-deletions",
    "stick-deletion",
    "refuse-kubeconfig",
    "show-status",
    "null-failures",
];

/// The fields of an order.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OrderFields {
    id: Option<String>,
    rounds: Option<u32>,
    on: Option<bool>,
    status: Option<String>,
    failures: Vec<Failing>,
}

impl System for Reconciler {
    fn name(&self) -> &'static str {
        "reconciler"
    }

    fn purpose(&self) -> &'static str {
        "installs Kyma in runtimes and keeps it as configured"
    }

    fn base(&self) -> &'static str {
        BASE
    }

    fn orders(&self) -> &'static [&'static str] {
        &ORDERS
    }

    fn last_change(&self) -> Option<Change> {
        self.known.last_change()
    }

    fn objects(&self) -> Vec<Object> {
        if let Err(error) = self.settle() {
            tracing::error!(%error, "reconciler simulator: cannot advance state");
        }
        self.known.read(|known| {
            let clusters = known.clusters.iter().map(|(id, cluster)| Object {
                kind: "cluster",
                id: id.clone(),
                value: json!({
                    "runtime": cluster.runtime_input,
                    "metadata": cluster.metadata,
                    "version": cluster.version,
                    "configurations": cluster.configs.iter().map(|it| it.version).collect::<Vec<_>>(),
                    "kyma": cluster.configs.last().map(|config| &config.says),
                    "status": cluster.status,
                    "since": cluster.since,
                    "failures": cluster.failures,
                }),
            });
            clusters.collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let found = kind == "cluster" && self.known.read(|known| known.clusters.contains_key(id));
        if found {
            let at = self.clock.now();
            self.known.settle(|_| vec![Event::Gone { id: id.into(), at }])?;
        }
        Ok(found)
    }

    fn reset(&self) -> Result<(), Error> {
        self.known.reset()
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        let event = self.ordered(name, with)?;
        self.known.settle(|_| vec![event]).map_err(|error| OrderError::Failed(error.to_string()))
    }
}

impl Reconciler {
    fn ordered(&self, name: &str, with: &Value) -> Result<Event, OrderError> {
        if !ORDERS.contains(&name) {
            return Err(OrderError::Unknown(name.into()));
        }
        let with: OrderFields = serde_json::from_value(with.clone())
            .map_err(|error| OrderError::Invalid(error.to_string()))?;
        let on = with.on.unwrap_or(true);
        if name == "null-failures" {
            return Ok(Event::NullFailures { on });
        }
        let id = with.id.ok_or_else(|| OrderError::Invalid("\"id\" is missing".into()))?;
        if name == "show-status" {
            return Ok(Event::Worded { id, word: with.status });
        }
        let before = self.known.read(|known| known.scripts.get(&id).cloned()).unwrap_or_default();
        let rounds = with.rounds.unwrap_or(u32::MAX);
        let changed = match name {
            "fail-rounds" => Script { failing_rounds: rounds, failures: with.failures, ..before },
            "fail" => Script { fails: on, failures: with.failures, ..before },
            "fail-deletions" => {
                Script { failing_deletions: rounds, failures: with.failures, ..before }
            }
            "stick-deletion" => Script { deletion_sticks: on, ..before },
            _ => Script { refuses_kubeconfig: on, ..before },
        };
        Ok(Event::Scripted { id, script: changed })
    }
}
