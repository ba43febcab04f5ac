//! The central services as their operator sees them.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    BASE, Cis,
    records::{Event, Happening, Subaccount},
};
use crate::{
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 10] = [
    "create-subaccount",
    "update-subaccount",
    "delete-subaccount",
    "tell",
    "entitle",
    "be-strict",
    "limit-rate",
    "circle-cursors",
    "expire-cursors",
    "announce-more-pages",
];

/// The fields of an order.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OrderFields {
    id: Option<String>,
    global_account: Option<String>,
    name: Option<String>,
    region: Option<String>,
    beta: Option<bool>,
    production: Option<String>,
    plan: Option<String>,
    amount: Value,
    on: Option<bool>,
    per_second: Option<usize>,
    by: u64,
    event: Option<String>,
    at: Option<Timestamp>,
    details: Value,
}

impl System for Cis {
    fn name(&self) -> &'static str {
        "cis"
    }

    fn purpose(&self) -> &'static str {
        "knows subaccounts, what happened to them and what they may have"
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
        self.known.read(|known| {
            let subaccounts = known.subaccounts.values().map(|subaccount| Object {
                kind: "subaccount",
                id: subaccount.guid.clone(),
                value: subaccount.record(),
            });
            let events = known.events.iter().enumerate().map(|(at, event)| Object {
                kind: "event",
                id: (at + 1).to_string(),
                value: event.central(at + 1),
            });
            subaccounts.chain(events).collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let found = self.known.read(|known| known.subaccounts.contains_key(id));
        if found && kind == "subaccount" {
            self.known.settle(|_| vec![Event::Removed { guid: id.into() }])?;
        }
        Ok(found && kind == "subaccount")
    }

    fn reset(&self) -> Result<(), Error> {
        self.known.reset()
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        if !ORDERS.contains(&name) {
            return Err(OrderError::Unknown(name.into()));
        }
        let with = if with.is_null() {
            OrderFields::default()
        } else {
            serde_json::from_value(with.clone())
                .map_err(|error| OrderError::Invalid(error.to_string()))?
        };
        let event = self.ordered(name, with)?;
        self.known.settle(|_| vec![event]).map_err(|error| OrderError::Failed(error.to_string()))
    }
}

impl Cis {
    fn ordered(&self, name: &str, with: OrderFields) -> Result<Event, OrderError> {
        let on = with.on.unwrap_or(true);
        Ok(match name {
            "be-strict" => Event::Strict { on },
            "limit-rate" => Event::Limited { per_second: with.per_second },
            "circle-cursors" => Event::CursorsCircle { on },
            "expire-cursors" => Event::CursorsExpired { at: self.clock.now() },
            "announce-more-pages" => Event::PagesMore { by: with.by },
            _ => self.about_one(name, with)?,
        })
    }

    fn about_one(&self, name: &str, with: OrderFields) -> Result<Event, OrderError> {
        let missing = |field: &str| OrderError::Invalid(format!("\"{field}\" is missing"));
        let now = self.clock.now();
        let guid = with.id.clone().ok_or_else(|| missing("id"))?;
        let before = self.known.read(|known| known.subaccounts.get(&guid).cloned());
        let unknown = || OrderError::Invalid(format!("there is no subaccount {guid}"));
        Ok(match name {
            "create-subaccount" => {
                let fresh = Subaccount {
                    guid,
                    global_account: with.global_account.clone().unwrap_or_else(|| "ga-1".into()),
                    name: with.name.clone().unwrap_or_default(),
                    region: with.region.clone().unwrap_or_else(|| "cf-eu10".into()),
                    beta: false,
                    production: "NOT_USED_FOR_PRODUCTION".into(),
                    created_at: now,
                    modified_at: now,
                };
                set(fresh, "Subaccount_Creation", &with, now)
            }
            "update-subaccount" => {
                set(before.ok_or_else(unknown)?, "Subaccount_Update", &with, now)
            }
            "delete-subaccount" => {
                let subaccount = before.ok_or_else(unknown)?;
                let mut happening = happening_of(&subaccount, "Subaccount_Deletion", now);
                happening.created_at = now + self.pace.scaled(self.settings.deletion_event);
                Event::Deleted { guid, happening }
            }
            "entitle" => {
                let plan = with.plan.ok_or_else(|| missing("plan"))?;
                Event::Entitled { subaccount: guid, plan, amount: with.amount }
            }
            _ => {
                let at = with.at.unwrap_or(now);
                Event::Happened(Happening {
                    kind: with.event.ok_or_else(|| missing("event"))?,
                    subaccount: guid,
                    global_account: with.global_account.unwrap_or_default(),
                    action_at: at,
                    created_at: at,
                    details: if with.details.is_null() { json!({}) } else { with.details },
                })
            }
        })
    }
}

fn set(mut subaccount: Subaccount, kind: &str, with: &OrderFields, now: Timestamp) -> Event {
    subaccount.beta = with.beta.unwrap_or(subaccount.beta);
    if let Some(production) = &with.production {
        subaccount.production.clone_from(production);
    }
    subaccount.modified_at = with.at.unwrap_or(now);
    let happening = happening_of(&subaccount, kind, subaccount.modified_at);
    Event::Set(subaccount, happening)
}

fn happening_of(subaccount: &Subaccount, kind: &str, at: Timestamp) -> Happening {
    Happening {
        kind: kind.into(),
        subaccount: subaccount.guid.clone(),
        global_account: subaccount.global_account.clone(),
        action_at: at,
        created_at: at,
        details: subaccount.details(),
    }
}
