//! The notification service as its operator sees it.

use serde_json::{Value, json};

use super::{BASE, Spc, events::Event};
use crate::{
    orders,
    store::{Change, Error},
    system::{Object, OrderError, System},
};

impl System for Spc {
    fn name(&self) -> &'static str {
        "spc"
    }

    fn purpose(&self) -> &'static str {
        "tells customers about maintenance"
    }

    fn base(&self) -> &'static str {
        BASE
    }

    fn orders(&self) -> &'static [&'static str] {
        &["refuse-twice"]
    }

    fn last_change(&self) -> Option<Change> {
        self.events.last_change()
    }

    fn objects(&self) -> Vec<Object> {
        self.events.read(|known| {
            let shown = known.kept.iter().map(|(id, event)| Object {
                kind: "event",
                id: id.clone(),
                value: json!(event),
            });
            shown.collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let found = kind == "event" && self.events.read(|known| known.kept.contains_key(id));
        if found {
            self.events.settle(|_| vec![Event::Deleted { id: id.into() }])?;
        }
        Ok(found)
    }

    fn reset(&self) -> Result<(), Error> {
        self.events.reset()
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        if name != "refuse-twice" {
            return Err(OrderError::Unknown(name.into()));
        }
        let on = orders::on(with)?;
        let settled = self.events.settle(|_| vec![Event::RefusesTwice { on }]);
        settled.map_err(|error| OrderError::Failed(error.to_string()))
    }
}
