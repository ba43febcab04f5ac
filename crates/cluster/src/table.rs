//! The table that `kubectl get` shows, and objects cut down to their metadata.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Kind,
    kind::{Column, Source},
    object::name,
    path,
};

/// In which form objects are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are.
    Whole,
    /// As rows of a table.
    Table,
    /// Without anything but metadata.
    Metadata,
}

impl Form {
    /// The first form in an `Accept` header that we know.
    pub(crate) fn accepted(header: &str) -> Self {
        let forms = header.split(',').map(|one| {
            let parameter = one.split(';').find_map(|p| p.trim().strip_prefix("as="));
            (one.trim().starts_with("application/json"), parameter)
        });
        for (json, parameter) in forms.filter(|(json, _)| *json) {
            match parameter {
                Some("Table") => return Self::Table,
                Some(other) if other.starts_with("PartialObjectMetadata") => return Self::Metadata,
                None if json => return Self::Whole,
                _ => {}
            }
        }
        Self::Whole
    }

    /// One object.
    pub(crate) fn one(self, kind: &Kind, object: Value, now: Timestamp) -> Value {
        match self {
            Self::Whole => object,
            Self::Metadata => metadata(&object),
            Self::Table => {
                let version = object["metadata"]["resourceVersion"].clone();
                table(kind, &[object], now, &json!({"resourceVersion": version}))
            }
        }
    }

    /// A list.
    pub(crate) fn list(self, kind: &Kind, items: &[Value], head: &Value, now: Timestamp) -> Value {
        match self {
            Self::Table => table(kind, items, now, head),
            Self::Metadata => json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": head,
                "items": items.iter().map(metadata).collect::<Vec<_>>(),
            }),
            Self::Whole => json!({
                "kind": format!("{}List", kind.kind),
                "apiVersion": kind.api_version(),
                "metadata": head,
                "items": items,
            }),
        }
    }
}

fn metadata(object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object["metadata"],
    })
}

fn table(kind: &Kind, items: &[Value], now: Timestamp, head: &Value) -> Value {
    let age = Column::age("Age", ".metadata.creationTimestamp");
    let columns: Vec<&Column> = if kind.columns.iter().any(|column| column.source == age.source) {
        kind.columns.iter().collect()
    } else {
        kind.columns.iter().chain([&age]).collect()
    };
    let mut definitions = vec![
        json!({"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}),
    ];
    definitions.extend(columns.iter().map(|column| {
        // Ages are written out, so that every client shows the same.
        let form = if column.form == "date" { "string" } else { &column.form };
        json!({
            "name": column.name, "type": form, "format": "", "description": "",
            "priority": column.priority,
        })
    }));
    let rows: Vec<Value> = items
        .iter()
        .map(|object| {
            let mut cells = vec![json!(name(object))];
            cells.extend(columns.iter().map(|column| cell(column, object, now)));
            json!({"cells": cells, "object": metadata(object)})
        })
        .collect();
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": head,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}

fn cell(column: &Column, object: &Value, now: Timestamp) -> Value {
    let value = match &column.source {
        Source::Count(path) => {
            let found = path::find(object, path);
            let count = found.map_or(0, |found| match found {
                Value::Object(map) => map.len(),
                Value::Array(list) => list.len(),
                _ => 0,
            });
            return json!(count);
        }
        Source::Words(_, words) => return json!(words(object)),
        Source::Path(path) => path::find(object, path).cloned().unwrap_or(Value::Null),
    };
    let is_missing = value.is_null() || value == "";
    if let Some(word) = column.missing.filter(|_| is_missing) {
        return json!(word);
    }
    match (column.form.as_str(), &value) {
        ("date", Value::String(time)) => match time.parse::<Timestamp>() {
            Ok(time) => json!(age((now.as_second() - time.as_second()).max(0))),
            Err(_) => json!("<invalid>"),
        },
        ("date", _) => json!("<unknown>"),
        ("string", Value::String(_)) | (_, Value::Null) => value,
        ("string", other) => json!(other.to_string()),
        _ => value,
    }
}

/// Seconds in few letters, in the way `kubectl` writes them.
fn age(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{big}{unit}") } else { format!("{big}{unit}{small}{small_unit}") }
    };
    match seconds {
        ..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        _ if days < 730 => format!("{days}d"),
        _ if days < 2_920 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_written_as_kubectl_writes_them() {
        for (seconds, written) in [
            (5, "5s"),
            (119, "119s"),
            (150, "2m30s"),
            (3_600, "60m"),
            (18_060, "5h1m"),
            (90_000, "25h"),
            (180_000, "2d2h"),
            (864_000, "10d"),
            (86_400 * 800, "2y70d"),
        ] {
            assert_eq!(age(seconds), written);
        }
    }

    #[test]
    fn the_first_known_form_in_an_accept_header_counts() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(Form::accepted(table), Form::Table);
        assert_eq!(Form::accepted("application/json"), Form::Whole);
        assert_eq!(Form::accepted("*/*"), Form::Whole);
        assert_eq!(
            Form::accepted("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
            Form::Metadata
        );
    }
}
