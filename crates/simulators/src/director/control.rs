//! The Director as its operator sees it.

use serde_json::{Value, json};

use super::{
    BASE, Director,
    runtimes::{Condition, Event},
};
use crate::{
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 3] = ["connect", "add-tenant", "play-agent"];

impl System for Director {
    fn name(&self) -> &'static str {
        "director"
    }

    fn purpose(&self) -> &'static str {
        "keeps the registry of runtimes"
    }

    fn base(&self) -> &'static str {
        BASE
    }

    fn orders(&self) -> &'static [&'static str] {
        &ORDERS
    }

    fn last_change(&self) -> Option<Change> {
        self.runtimes.last_change()
    }

    fn objects(&self) -> Vec<Object> {
        if let Err(error) = self.settle() {
            tracing::error!(%error, "director simulator: cannot advance state");
        }
        self.runtimes.read(|known| {
            let runtime = |runtime: &super::runtimes::Runtime| Object {
                kind: "runtime",
                id: runtime.id.clone(),
                value: json!({
                    "tenant": runtime.tenant,
                    "name": runtime.name,
                    "description": runtime.description,
                    "labels": runtime.labels,
                    "condition": runtime.condition,
                    "condition_at": runtime.condition_at,
                    "created_at": runtime.created_at,
                }),
            };
            known.by_id.values().map(runtime).collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let found = kind == "runtime" && self.runtimes.read(|known| known.by_id.contains_key(id));
        if found {
            self.runtimes.settle(|_| vec![Event::Unregistered { id: id.into() }])?;
        }
        Ok(found)
    }

    fn reset(&self) -> Result<(), Error> {
        self.runtimes.reset()
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        let id = || {
            let id = with["id"].as_str().map(str::to_owned);
            id.ok_or_else(|| OrderError::Invalid("\"id\" is missing".into()))
        };
        let event = match name {
            "connect" => {
                let id = id()?;
                self.connected(&id).ok_or_else(|| {
                    OrderError::Invalid(format!(
                        "runtime {id} cannot connect: it is not being provisioned with a domain"
                    ))
                })?
            }
            "add-tenant" => Event::TenantAdded { id: id()? },
            "play-agent" => {
                let on = with["on"].as_bool();
                let on = on.ok_or_else(|| OrderError::Invalid("\"on\" is missing".into()))?;
                Event::AgentSwitched { on }
            }
            _ => return Err(OrderError::Unknown(name.into())),
        };
        self.runtimes.settle(|_| vec![event]).map_err(|error| OrderError::Failed(error.to_string()))
    }
}

impl Director {
    fn connected(&self, id: &str) -> Option<Event> {
        let at = self.clock.now();
        self.runtimes.read(|known| {
            let runtime = known.by_id.get(id)?;
            let domain = runtime.labels.get("gardenerClusterDomain")?.as_str()?;
            let console = format!("https://console.{domain}");
            (runtime.condition != Condition::Failed).then(|| Event::Connected {
                id: id.into(),
                at,
                console,
            })
        })
    }
}
