//! EC2 as its operator sees it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Aws, BASE,
    records::{Event, Volume},
};
use crate::{
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 8] = [
    "add-key",
    "refuse-key",
    "forbid",
    "close-region",
    "add-volume",
    "curse-volume",
    "offer",
    "set-page-size",
];

/// The fields of an order.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OrderFields {
    key: Option<String>,
    action: Option<String>,
    id: Option<String>,
    region: Option<String>,
    in_use: bool,
    machine: Option<String>,
    zones: Vec<String>,
    size: Option<usize>,
    on: Option<bool>,
}

fn given(value: Option<String>, field: &str) -> Result<String, OrderError> {
    value.ok_or_else(|| OrderError::Invalid(format!("\"{field}\" is missing")))
}

impl System for Aws {
    fn name(&self) -> &'static str {
        "aws"
    }

    fn purpose(&self) -> &'static str {
        "keeps the volumes of accounts and offers machines in zones"
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
            tracing::error!(%error, "ec2 simulator: cannot advance state");
        }
        self.known.read(|known| {
            let volume = |(id, volume): (&String, &Volume)| Object {
                kind: "volume",
                id: id.clone(),
                value: json!(volume),
            };
            known.volumes.iter().map(volume).collect()
        })
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let found = kind == "volume" && self.known.read(|known| known.volumes.contains_key(id));
        if found {
            self.known.settle(|_| vec![Event::VolumeGone { id: id.into() }])?;
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
        let with: OrderFields = serde_json::from_value(with.clone())
            .map_err(|error| OrderError::Invalid(error.to_string()))?;
        let event = self.ordered(name, with)?;
        self.known.settle(|_| vec![event]).map_err(|error| OrderError::Failed(error.to_string()))
    }
}

impl Aws {
    fn ordered(&self, name: &str, with: OrderFields) -> Result<Event, OrderError> {
        let on = with.on.unwrap_or(true);
        Ok(match name {
            "add-key" => Event::KeyAdded { key: given(with.key, "key")? },
            "refuse-key" => Event::KeyRefused { key: given(with.key, "key")?, on },
            "forbid" => Event::Forbidden { action: given(with.action, "action")?, on },
            "close-region" => Event::RegionClosed {
                key: given(with.key, "key")?,
                region: given(with.region, "region")?,
                on,
            },
            "add-volume" => {
                let volume = Volume {
                    key: given(with.key, "key")?,
                    region: given(with.region, "region")?,
                    in_use: with.in_use,
                    deleting_since: None,
                    cursed: false,
                };
                let number = self.known.read(|known| known.made) + 1;
                let id = with.id.unwrap_or_else(|| format!("vol-{number:017x}"));
                Event::VolumeSet { id, volume }
            }
            "curse-volume" => {
                let id = given(with.id, "id")?;
                let volume = self.known.read(|known| known.volumes.get(&id).cloned());
                let unknown = || OrderError::Invalid(format!("there is no volume {id}"));
                let volume = Volume { cursed: on, ..volume.ok_or_else(unknown)? };
                Event::VolumeSet { id, volume }
            }
            "offer" => Event::Offered {
                region: given(with.region, "region")?,
                machine: given(with.machine, "machine")?,
                zones: with.zones,
            },
            _ => Event::PageSet { size: with.size },
        })
    }
}
