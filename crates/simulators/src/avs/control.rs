//! The availability service as its operator sees it.

use serde_json::{Value, json};

use super::{
    Avs, BASE,
    evaluations::{Event, STATUSES},
};
use crate::{
    orders,
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 2] = ["set-status", "threshold-as-text"];

impl System for Avs {
    fn name(&self) -> &'static str {
        "avs"
    }

    fn purpose(&self) -> &'static str {
        "watches runtimes and counts their outages"
    }

    fn base(&self) -> &'static str {
        BASE
    }

    fn orders(&self) -> &'static [&'static str] {
        &ORDERS
    }

    fn last_change(&self) -> Option<Change> {
        self.evaluations.last_change()
    }

    fn objects(&self) -> Vec<Object> {
        self.evaluations.read(|known| {
            let evaluations = known.by_id.values().map(|evaluation| Object {
                kind: "evaluation",
                id: evaluation.id.to_string(),
                value: json!({
                    "name": evaluation.asked.name,
                    "description": evaluation.asked.description,
                    "url": evaluation.asked.url,
                    "parent": evaluation.asked.parent_id,
                    "group": evaluation.asked.group_id,
                    "status": evaluation.status,
                    "tags": evaluation.tags,
                }),
            });
            let parents = known.children.iter().map(|(parent, children)| Object {
                kind: "parent",
                id: parent.to_string(),
                value: json!({ "children": children }),
            });
            evaluations.chain(parents).collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let Ok(id) = id.parse() else { return Ok(false) };
        let known = self.evaluations.read(|known| known.by_id.contains_key(&id));
        let found = kind == "evaluation" && known;
        if found {
            self.evaluations.settle(|_| vec![Event::Deleted { id }])?;
        }
        Ok(found)
    }

    fn reset(&self) -> Result<(), Error> {
        self.evaluations.reset()
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        let event = match name {
            "set-status" => {
                let (id, status) = (orders::text(with, "id")?, orders::text(with, "status")?);
                let number = id.parse().map_err(|_| orders::unknown("evaluation", &id))?;
                if !self.evaluations.read(|known| known.by_id.contains_key(&number)) {
                    return Err(orders::unknown("evaluation", &id));
                }
                if !STATUSES.contains(&status.as_str()) {
                    return Err(orders::unknown("status", &status));
                }
                Event::StatusSet { id: number, status, at: self.clock.now().as_second() }
            }
            "threshold-as-text" => Event::ThresholdAsText { on: orders::on(with)? },
            _ => return Err(OrderError::Unknown(name.into())),
        };
        let settled = self.evaluations.settle(|_| vec![event]);
        settled.map_err(|error| OrderError::Failed(error.to_string()))
    }
}
