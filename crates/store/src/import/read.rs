//! How rows that were read as JSON become values.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// A row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowError {
    /// The row's id.
    pub id: String,
    /// Why; without any value of the row.
    pub why: String,
}

/// The row `id`.
pub(super) fn row<T: DeserializeOwned>(id: &str, text: &str) -> Result<T, RowError> {
    serde_json::from_str(text).map_err(|error| unreadable(id, &error))
}

/// Only the sort of error and where it is: the rest of the text may repeat a value.
pub(super) fn unreadable(id: &str, error: &serde_json::Error) -> RowError {
    let why = format!("{:?} error at column {}", error.classify(), error.column());
    RowError { id: id.to_owned(), why: why.to_lowercase() }
}

/// NULL is the same as nothing.
pub(super) fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// JSON, also where the column holds it as text.
pub(super) fn json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) if text.is_empty() => Ok(Value::Null),
        Value::String(text) => serde_json::from_str(&text)
            .map_err(|_| serde::de::Error::custom("a column that should hold JSON does not")),
        value => Ok(value),
    }
}

/// A time; none for NULL, and for the first moment of the first year, which the originals write for none.
pub(super) fn moment<'de, D>(deserializer: D) -> Result<Option<Timestamp>, D::Error>
where
    D: Deserializer<'de>,
{
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let parsed = text.parse::<Timestamp>().ok().or_else(|| without_zone(&text));
    let time = parsed
        .ok_or_else(|| serde::de::Error::custom("a column that should hold a time does not"))?;
    Ok(Some(time).filter(|time| time.to_zoned(TimeZone::UTC).year() > 1))
}

/// The provisioner's times have no zone: they are UTC.
fn without_zone(text: &str) -> Option<Timestamp> {
    let time = text.parse::<DateTime>().ok()?;
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}
