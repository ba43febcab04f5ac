//! The Director's GraphQL types.

use async_graphql::{
    ID, InputObject, InputValueError, InputValueResult, Object, Scalar, ScalarType, SimpleObject,
    Value,
};
use serde_json::Map;

use super::runtimes::{Condition, Runtime};

/// Labels: an object whose values may be anything.
#[derive(Debug, Clone)]
pub(super) struct Labels(pub(super) Map<String, serde_json::Value>);

#[Scalar]
impl ScalarType for Labels {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value.into_json() {
            Ok(serde_json::Value::Object(labels)) => Ok(Self(labels)),
            _ => Err(InputValueError::custom("labels are an object")),
        }
    }

    fn to_value(&self) -> Value {
        value_of(serde_json::Value::Object(self.0.clone()))
    }
}

/// Anything.
#[derive(Debug, Clone)]
pub(super) struct Any(pub(super) serde_json::Value);

#[Scalar]
impl ScalarType for Any {
    fn parse(value: Value) -> InputValueResult<Self> {
        Ok(Self(value.into_json()?))
    }

    fn to_value(&self) -> Value {
        value_of(self.0.clone())
    }
}

/// A point in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timestamp(pub(super) jiff::Timestamp);

#[Scalar]
impl ScalarType for Timestamp {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) => Ok(Self(text.parse()?)),
            other => Err(InputValueError::expected_type(other)),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_string())
    }
}

/// Where a page ended.
#[derive(Debug, Clone)]
pub(super) struct PageCursor(pub(super) String);

#[Scalar]
impl ScalarType for PageCursor {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) => Ok(Self(text)),
            other => Err(InputValueError::expected_type(other)),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }
}

fn value_of(json: serde_json::Value) -> Value {
    Value::from_json(json).unwrap_or_default()
}

/// What registers a runtime.
#[derive(Debug, InputObject)]
pub(super) struct RuntimeRegisterInput {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) labels: Option<Labels>,
    pub(super) status_condition: Option<Condition>,
}

/// What takes the place of a runtime's properties, labels included.
#[derive(Debug, InputObject)]
pub(super) struct RuntimeUpdateInput {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) labels: Option<Labels>,
    pub(super) status_condition: Option<Condition>,
}

/// Which runtimes are wanted.
#[derive(Debug, InputObject)]
pub(super) struct LabelFilter {
    pub(super) key: String,
    pub(super) query: Option<String>,
}

/// A runtime as callers see it.
pub(super) struct View(pub(super) Runtime);

#[Object(name = "Runtime")]
impl View {
    async fn id(&self) -> ID {
        ID(self.0.id.clone())
    }

    async fn name(&self) -> &str {
        &self.0.name
    }

    async fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    async fn labels(&self, key: Option<String>) -> Option<Labels> {
        let wanted = |(name, _): &(&String, _)| key.as_ref().is_none_or(|key| key == *name);
        let found: Map<_, _> = self
            .0
            .labels
            .iter()
            .filter(wanted)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        (!found.is_empty()).then_some(Labels(found))
    }

    async fn status(&self) -> RuntimeStatus {
        RuntimeStatus { condition: self.0.condition, timestamp: Timestamp(self.0.condition_at) }
    }

    async fn metadata(&self) -> RuntimeMetadata {
        RuntimeMetadata { creation_timestamp: Timestamp(self.0.created_at) }
    }
}

/// How a runtime is, and since when.
#[derive(SimpleObject)]
pub(super) struct RuntimeStatus {
    condition: Condition,
    timestamp: Timestamp,
}

/// When a runtime was registered.
#[derive(SimpleObject)]
pub(super) struct RuntimeMetadata {
    creation_timestamp: Timestamp,
}

/// Some runtimes.
#[derive(SimpleObject)]
pub(super) struct RuntimePage {
    pub(super) data: Vec<View>,
    pub(super) page_info: PageInfo,
    pub(super) total_count: usize,
}

/// Where a page lies.
#[derive(SimpleObject)]
pub(super) struct PageInfo {
    pub(super) start_cursor: PageCursor,
    pub(super) end_cursor: PageCursor,
    pub(super) has_next_page: bool,
}

/// One label.
#[derive(SimpleObject)]
pub(super) struct Label {
    pub(super) key: String,
    pub(super) value: Any,
}

/// With what a runtime connects.
#[derive(SimpleObject)]
pub(super) struct OneTimeTokenForRuntime {
    pub(super) token: String,
    #[graphql(name = "connectorURL")]
    pub(super) connector_url: String,
}
