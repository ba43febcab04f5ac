//! The event data platform as its operator sees it.

use serde_json::{Value, json};

use super::{
    BASE, Edp,
    tenants::{EdpFaults, Event},
};
use crate::{
    orders,
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 3] = ["conflict-always", "answer-200", "keep-tenants-with-metadata"];

impl System for Edp {
    fn name(&self) -> &'static str {
        "edp"
    }

    fn purpose(&self) -> &'static str {
        "knows which subaccounts have runtimes, and bills them"
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
        self.tenants.read(|known| {
            let shown = known.all().map(|tenant| Object {
                kind: "tenant",
                id: tenant.place.id(),
                value: json!({
                    "namespace": tenant.place.namespace,
                    "name": tenant.place.name,
                    "environment": tenant.place.environment,
                    "metadata": tenant.metadata,
                }),
            });
            shown.collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let place = self.tenants.read(|known| {
            let found = known.all().find(|tenant| tenant.place.id() == id);
            found.filter(|_| kind == "tenant").map(|tenant| tenant.place.clone())
        });
        let found = place.is_some();
        self.tenants.settle(|_| place.map(Event::TenantDeleted).into_iter().collect())?;
        Ok(found)
    }

    fn reset(&self) -> Result<(), Error> {
        self.tenants.reset()
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        if !ORDERS.contains(&name) {
            return Err(OrderError::Unknown(name.into()));
        }
        let on = orders::on(with)?;
        let settled = self.tenants.settle(|known| {
            let before = known.switches.clone();
            let switches = match name {
                "conflict-always" => EdpFaults { conflict: on, ..before },
                "answer-200" => EdpFaults { plain_ok: on, ..before },
                _ => EdpFaults { guard: on, ..before },
            };
            vec![Event::Switched(switches)]
        });
        settled.map_err(|error| OrderError::Failed(error.to_string()))
    }
}
