//! The issuer as its operator sees it.

use std::sync::PoisonError;

use serde_json::{Value, json};

use super::{
    Issuer,
    known::{Decision, Event},
};
use crate::{
    store::{Change, Error},
    system::{Object, OrderError, System},
};

const ORDERS: [&str; 4] = ["rotate-keys", "expire-tokens", "set-lifetime", "set-audience"];

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

    fn found(&self) -> Option<Change> {
        self.known.found()
    }

    fn objects(&self) -> Vec<Object> {
        let object = |kind, id: &str, value| Object { kind, id: id.into(), value };
        let mut objects: Vec<Object> =
            self.published().iter().map(|key| object("key", key.id(), json!({}))).collect();
        objects.extend(
            self.settings
                .clients
                .iter()
                .map(|client| object("client", &client.id, json!({ "scopes": client.scopes }))),
        );
        objects.extend(self.settings.users.iter().map(|user| {
            object("user", &user.name, json!({ "scopes": user.scopes, "groups": user.groups }))
        }));
        self.known.read(|known| {
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
            _ => return Err(OrderError::Unknown(name.into())),
        };
        done.map_err(|error| OrderError::Failed(error.to_string()))
    }
}
