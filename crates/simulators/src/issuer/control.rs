//! The issuer as its operator sees it.

use std::sync::PoisonError;

use serde_json::{Value, json};

use super::{
    Issuer,
    records::{Decision, Event},
};
use crate::{
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 8] = [
    "rotate-keys",
    "expire-tokens",
    "set-lifetime",
    "set-audience",
    "add-user",
    "remove-user",
    "add-client",
    "remove-client",
];

impl System for Issuer {
    fn name(&self) -> &'static str {
        "issuer"
    }

    fn purpose(&self) -> &'static str {
        "gives tokens to machines and people"
    }

    fn base(&self) -> &'static str {
        "/"
    }

    fn orders(&self) -> &'static [&'static str] {
        &ORDERS
    }

    fn last_change(&self) -> Option<Change> {
        self.known.last_change()
    }

    fn objects(&self) -> Vec<Object> {
        let object = |kind, id: &str, value| Object { kind, id: id.into(), value };
        let mut objects: Vec<Object> =
            self.published().iter().map(|key| object("key", key.id(), json!({}))).collect();
        self.known.read(|known| {
            objects.extend(self.clients(known).iter().map(|client| {
                let value = json!({
                    "scopes": client.scopes, "grants": client.grants,
                    "confidential": client.secret.is_some(),
                });
                object("client", &client.id, value)
            }));
            objects.extend(self.people(known).iter().map(|user| {
                let value = json!({
                    "scopes": user.scopes, "groups": user.groups, "email": user.address(),
                });
                object("user", &user.name, value)
            }));
            objects.extend(known.devices.values().map(|device| {
                let decision = match &device.decision {
                    Decision::Open => "open",
                    Decision::Denied => "denied",
                    Decision::Allowed(_) => "allowed",
                };
                let value = json!({
                    "client": device.client, "decision": decision, "until": device.until,
                });
                object("device", &device.user_code, value)
            }));
            // The digest names a token without giving it away.
            objects.extend(known.refreshes.iter().map(|(digest, granted)| {
                let value = json!({
                    "client": granted.client, "user": granted.user, "scopes": granted.scopes,
                });
                object("refresh-token", digest, value)
            }));
        });
        objects
    }

    fn delete(&self, kind: &str, id: &str) -> Result<bool, Error> {
        let event = self.known.read(|known| match kind {
            "device" => {
                let found = known.devices.iter().find(|(_, device)| device.user_code == id);
                found.map(|(digest, _)| Event::DeviceUsed { digest: digest.clone() })
            }
            "refresh-token" => {
                let found = known.refreshes.contains_key(id);
                found.then(|| Event::RefreshUsed { digest: id.into() })
            }
            "client" => {
                let found = known.clients.contains_key(id);
                found.then(|| Event::ClientRemoved { id: id.into() })
            }
            "user" => {
                let found = known.people.contains_key(id);
                found.then(|| Event::PersonRemoved { name: id.into() })
            }
            _ => None,
        });
        let found = event.is_some();
        self.known.settle(|_| event.into_iter().collect())?;
        Ok(found)
    }

    fn reset(&self) -> Result<(), Error> {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        self.known.reset()?;
        keys.truncate(1);
        Ok(())
    }

    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        let done = match name {
            "rotate-keys" => self.rotate_keys(with["withdraw"].as_bool().unwrap_or(false)),
            "expire-tokens" => self.expire_tokens(),
            "set-lifetime" => {
                let seconds = match &with["seconds"] {
                    Value::Null => None,
                    seconds => Some(seconds.as_u64().ok_or_else(|| {
                        OrderError::Invalid("\"seconds\" is not a whole number".into())
                    })?),
                };
                self.set_lifetime(seconds)
            }
            "set-audience" => {
                let audience = serde_json::from_value(with["audience"].clone());
                self.set_audience(audience.map_err(|_| {
                    OrderError::Invalid("\"audience\" is not a list of texts".into())
                })?)
            }
            "add-user" | "remove-user" | "add-client" | "remove-client" => {
                let event = self.register(name, with)?;
                self.known.settle(|_| vec![event]).map_err(Into::into)
            }
            _ => return Err(OrderError::Unknown(name.into())),
        };
        done.map_err(|error| OrderError::Failed(error.to_string()))
    }
}
