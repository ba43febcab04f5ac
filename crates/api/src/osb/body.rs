//! The body of an order: what is missing, and what has the wrong type, is named.

use serde_json::{Map, Value};

use super::error::Refused;

/// The fields of a body. Unknown ones are left alone; `null` says nothing.
pub(super) struct Body(Map<String, Value>);

impl Body {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Refused> {
        if bytes.is_empty() {
            return Err(Refused::bad("the body is empty"));
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(mut fields)) => {
                fields.retain(|_, value| !value.is_null());
                Ok(Self(fields))
            }
            Ok(_) => Err(Refused::bad("the body is not a JSON object")),
            Err(error) => Err(Refused::bad(format!("the body is not JSON: {error}"))),
        }
    }

    /// A text; empty when there is none.
    pub(super) fn text(&mut self, name: &str) -> Result<String, Refused> {
        match self.0.remove(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Refused::bad(format!("{name} is not a string"))),
        }
    }

    /// An object.
    pub(super) fn object(&mut self, name: &str) -> Result<Option<Value>, Refused> {
        match self.0.remove(name) {
            found @ (None | Some(Value::Object(_))) => Ok(found),
            Some(_) => Err(Refused::bad(format!("{name} is not an object"))),
        }
    }
}
