//! The fields of an order.

use serde_json::Value;

use crate::system::OrderError;

/// `"on": true` or `"on": false`.
pub(crate) fn on(with: &Value) -> Result<bool, OrderError> {
    with["on"].as_bool().ok_or_else(|| missing("on", "true or false"))
}

/// A text under a name.
pub(crate) fn text(with: &Value, name: &str) -> Result<String, OrderError> {
    with[name].as_str().map(str::to_owned).ok_or_else(|| missing(name, "a text"))
}

/// A number under a name.
pub(crate) fn number(with: &Value, name: &str) -> Result<u32, OrderError> {
    let number = with[name].as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| missing(name, "a whole number"))
}

/// An order about something that is not there.
pub(crate) fn unknown(what: &str, id: &str) -> OrderError {
    OrderError::Invalid(format!("there is no {what} {id}"))
}

fn missing(name: &str, kind: &str) -> OrderError {
    OrderError::Invalid(format!("\"{name}\" must be {kind}"))
}
