//! Identity authentication as its operator sees it.

use serde_json::Value;

use super::{
    BASE, Ias,
    providers::{Event, IasFaults},
};
use crate::{
    orders,
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 4] = ["hide-new-providers", "allow-twins", "fail-access", "add-others"];
/// Enough to be larger than any client wants to read.
const MOST_OTHERS: u32 = 500_000;

impl System for Ias {
    fn name(&self) -> &'static str {
        "ias"
    }

    fn purpose(&self) -> &'static str {
        "lets people log in to the tools of runtimes"
    }

    fn base(&self) -> &'static str {
        BASE
    }

    fn orders(&self) -> &'static [&'static str] {
        &ORDERS
    }

    fn last_change(&self) -> Option<Change> {
        self.providers.last_change()
    }

    fn objects(&self) -> Vec<Object> {
        self.providers.read(|known| {
            let shown = known.kept.iter().map(|provider| Object {
                kind: "provider",
                id: provider.id.clone(),
                value: self.shown(provider),
            });
            shown.collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let found = kind == "provider" && self.providers.read(|known| known.find(id).is_some());
        if found {
            self.providers.settle(|_| vec![Event::Deleted { id: id.into() }])?;
        }
        Ok(found)
    }

    fn reset(&self) -> Result<(), Error> {
        self.providers.reset()
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        let before = self.providers.read(|known| known.switches.clone());
        let switches = match name {
            "hide-new-providers" => {
                IasFaults { hide_new: orders::number(with, "readings")?, ..before }
            }
            "allow-twins" => IasFaults { twins: orders::on(with)?, ..before },
            "fail-access" => IasFaults { failing_access: orders::number(with, "calls")?, ..before },
            "add-others" => {
                let others = orders::number(with, "number")?.min(MOST_OTHERS);
                IasFaults { others, ..before }
            }
            _ => return Err(OrderError::Unknown(name.into())),
        };
        let settled = self.providers.settle(|_| vec![Event::Switched(switches)]);
        settled.map_err(|error| OrderError::Failed(error.to_string()))
    }
}
