//! Reads parameters, and names the field that cannot be read.

use std::fmt::Write as _;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use crate::catalog::{Refusal, Rule};

/// Parameters by their types. `null` reads as nothing said: whether that is allowed is the schema's question.
pub(in crate::catalog) fn form<T>(raw: &Value, doing: &str) -> Result<T, Refusal>
where
    T: DeserializeOwned + Default,
{
    match raw {
        Value::Null => Ok(T::default()),
        Value::Object(_) => serde_path_to_error::deserialize(raw).map_err(|error| {
            let field = pointer(error.path());
            let text = format!("{doing}: {}: {}", error.path(), error.inner());
            Refusal::new(Rule::Form, &field, text)
        }),
        _ => Err(Refusal::new(Rule::Form, "", format!("{doing}: parameters are not an object"))),
    }
}

fn pointer(path: &Path) -> String {
    path.iter().fold(String::new(), |mut pointer, segment| {
        // Writing to a text cannot fail.
        let _ = match segment {
            Segment::Seq { index } => write!(pointer, "/{index}"),
            Segment::Map { key } => write!(pointer, "/{key}"),
            Segment::Enum { variant } => write!(pointer, "/{variant}"),
            Segment::Unknown => Ok(()),
        };
        pointer
    })
}
