//! The labels of a runtime: any object.

use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use serde_json::Map;

/// An object.
pub(super) struct Labels(pub(super) Map<String, serde_json::Value>);

#[Scalar]
impl ScalarType for Labels {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value.into_json()? {
            serde_json::Value::Object(labels) => Ok(Self(labels)),
            _ => Err(InputValueError::custom("it is not an object")),
        }
    }

    fn is_valid(value: &Value) -> bool {
        matches!(value, Value::Object(_))
    }

    fn to_value(&self) -> Value {
        Value::from_json(self.0.clone().into()).unwrap_or_default()
    }
}
