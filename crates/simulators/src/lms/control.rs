//! The logging service as its operator sees it.

use serde_json::{Value, json};

use super::{
    BASE, Lms,
    tenants::{Event, LmsFaults, Stage},
};
use crate::{
    orders,
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 5] =
    ["make-ready", "never-ready", "withhold-certificates", "spoil-certificates", "dead-callback"];

impl System for Lms {
    fn name(&self) -> &'static str {
        "lms"
    }

    fn purpose(&self) -> &'static str {
        "keeps the logs of runtimes"
    }

    fn base(&self) -> &'static str {
        BASE
    }

    fn orders(&self) -> &'static [&'static str] {
        &ORDERS
    }

    fn last_change(&self) -> Option<Change> {
        self.tenants.last_change()
    }

    fn objects(&self) -> Vec<Object> {
        if let Err(error) = self.settle() {
            tracing::error!(%error, "logging simulator: cannot advance state");
        }
        self.tenants.read(|known| {
            let tenants = known.by_id.values().map(|tenant| Object {
                kind: "tenant",
                id: tenant.id.clone(),
                value: json!(tenant),
            });
            let certificates = known.certificates.values().map(|certificate| Object {
                kind: "certificate",
                id: certificate.id.clone(),
                value: json!({ "tenant": certificate.tenant, "signed": certificate.shown }),
            });
            tenants.chain(certificates).collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let found = kind == "tenant" && self.tenants.read(|known| known.by_id.contains_key(id));
        if found {
            self.tenants.settle(|_| vec![Event::Deleted { id: id.into() }])?;
        }
        Ok(found)
    }

    fn reset(&self) -> Result<(), Error> {
        self.tenants.reset()
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        let before = self.tenants.read(|known| known.switches.clone());
        let event = match name {
            "make-ready" => {
                let id = orders::text(with, "id")?;
                if !self.tenants.read(|known| known.by_id.contains_key(&id)) {
                    return Err(orders::unknown("tenant", &id));
                }
                Event::Moved { id, stage: Stage::Ready }
            }
            "never-ready" => {
                Event::Switched(LmsFaults { never_ready: orders::on(with)?, ..before })
            }
            "withhold-certificates" => {
                Event::Switched(LmsFaults { withheld: orders::on(with)?, ..before })
            }
            "spoil-certificates" => {
                Event::Switched(LmsFaults { spoilt: orders::on(with)?, ..before })
            }
            "dead-callback" => {
                Event::Switched(LmsFaults { dead_callback: orders::on(with)?, ..before })
            }
            _ => return Err(OrderError::Unknown(name.into())),
        };
        let settled = self.tenants.settle(|_| vec![event]);
        settled.map_err(|error| OrderError::Failed(error.to_string()))
    }
}
