//! Azure as its operator sees it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Azure, BASE,
    records::{Event, Group, Polling, Sku, Subscription, digest_of, key},
};
use crate::{
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 12] = [
    "add-subscription",
    "revoke",
    "expire-tokens",
    "add-group",
    "stick-deletion",
    "lock-group",
    "set-sku",
    "set-page-size",
    "set-polling",
    "use-up-quota",
    "blank-keys",
    "fail-namespace",
];

/// The fields of an order.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OrderFields {
    subscription: Option<String>,
    tenant: Option<String>,
    client: Option<String>,
    secret: Option<String>,
    group: Option<String>,
    location: Option<String>,
    tags: BTreeMap<String, String>,
    machine: Option<String>,
    zones: Vec<String>,
    restricted: Vec<String>,
    bare: bool,
    size: Option<usize>,
    polling: Polling,
    name: Option<String>,
    on: Option<bool>,
}

fn given(value: Option<String>, field: &str) -> Result<String, OrderError> {
    value.ok_or_else(|| OrderError::Invalid(format!("\"{field}\" is missing")))
}

impl System for Azure {
    fn name(&self) -> &'static str {
        "azure"
    }

    fn purpose(&self) -> &'static str {
        "keeps resource groups and event hubs of subscriptions"
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
            tracing::error!(%error, "azure simulator: cannot advance state");
        }
        self.known.read(|known| {
            let groups = known.groups.iter().map(|(key, group)| Object {
                kind: "group",
                id: key.clone(),
                value: json!(group),
            });
            let namespaces = known.namespaces.iter().flat_map(|(key, all)| {
                all.iter().map(move |(name, namespace)| Object {
                    kind: "namespace",
                    id: format!("{key}/{name}"),
                    value: json!(namespace),
                })
            });
            groups.chain(namespaces).collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let found = kind == "group" && self.known.read(|known| known.groups.contains_key(id));
        if found {
            self.known.settle(|_| vec![Event::GroupGone { key: id.into() }])?;
        }
        Ok(found)
    }

    fn reset(&self) -> Result<(), Error> {
        self.known.reset()
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        if !ORDERS.contains(&name) {
            return Err(OrderError::Unknown(name.into()));
        }
        let with: OrderFields = match with {
            Value::Null => OrderFields::default(),
            with => serde_json::from_value(with.clone())
                .map_err(|error| OrderError::Invalid(error.to_string()))?,
        };
        let event = self.ordered(name, with)?;
        self.known.settle(|_| vec![event]).map_err(|error| OrderError::Failed(error.to_string()))
    }
}

impl Azure {
    fn ordered(&self, name: &str, with: OrderFields) -> Result<Event, OrderError> {
        let on = with.on.unwrap_or(true);
        Ok(match name {
            "add-subscription" => {
                let subscription = Subscription {
                    tenant: given(with.tenant, "tenant")?,
                    client: given(with.client, "client")?,
                    secret: digest_of(&given(with.secret, "secret")?),
                    revoked: false,
                };
                Event::SubscriptionAdded {
                    id: given(with.subscription, "subscription")?,
                    subscription,
                }
            }
            "revoke" => Event::Revoked { id: given(with.subscription, "subscription")?, on },
            "expire-tokens" => Event::TokensExpired { at: self.clock.now() },
            "set-sku" => {
                let (zones, restricted, bare) = (with.zones, with.restricted, with.bare);
                let machine = given(with.machine, "machine")?;
                let sku = Sku { machine, zones, restricted, bare };
                Event::SkuSet { location: given(with.location, "location")?, sku }
            }
            "set-page-size" => Event::PageSet { size: with.size },
            "set-polling" => Event::PollingSet { polling: with.polling },
            "use-up-quota" => Event::QuotaSet { used_up: on },
            "blank-keys" => Event::KeysBlank { on },
            "fail-namespace" => Event::NamespaceFails { name: given(with.name, "name")?, on },
            _ => self.about_group(name, with, on)?,
        })
    }

    fn about_group(&self, name: &str, with: OrderFields, on: bool) -> Result<Event, OrderError> {
        let subscription = given(with.subscription, "subscription")?;
        let group = given(with.group, "group")?;
        let key = key(&subscription, &group);
        let before = self.known.read(|known| known.groups.get(&key).cloned());
        let unknown = || OrderError::Invalid(format!("there is no group {key}"));
        let changed = match name {
            "add-group" => Group {
                subscription,
                name: group,
                location: with.location.unwrap_or_else(|| "westeurope".into()),
                tags: with.tags,
                deleting_since: None,
                stuck: false,
                locked: false,
            },
            "stick-deletion" => Group { stuck: on, ..before.ok_or_else(unknown)? },
            _ => Group { locked: on, ..before.ok_or_else(unknown)? },
        };
        Ok(Event::GroupPut { key, group: changed })
    }
}
