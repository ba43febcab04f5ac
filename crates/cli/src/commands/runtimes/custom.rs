//! Columns of the caller's choice: `HEADER:PATH[,…]`.

use serde_json::Value;

use crate::output;

/// A column: what stands above it, and where its values are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    head: String,
    path: Vec<String>,
}

/// Reads what was asked for. Paths may have braces and a dot before them, as those of kubectl.
pub(super) fn columns(text: &str) -> Result<Vec<Column>, String> {
    if text.is_empty() {
        return Err("custom format specified but no custom columns given".into());
    }
    text.split(',')
        .map(|part| {
            let (head, path) = part.split_once(':').ok_or_else(|| {
                format!("unexpected custom spec: {part}, expected <header>:<json-path-expr>")
            })?;
            let path = path.trim_start_matches('{').trim_end_matches('}').trim_start_matches('.');
            let path = path.split('.').map(str::to_owned).collect();
            Ok(Column { head: head.to_owned(), path })
        })
        .collect()
}

/// The table.
pub(super) fn text(columns: &[Column], runtimes: &[Value]) -> String {
    let head = columns.iter().map(|column| column.head.clone()).collect();
    let row = |runtime: &Value| columns.iter().map(|column| column.of(runtime)).collect();
    output::columns(head, runtimes.iter().map(row))
}

impl Column {
    /// The value; nothing where there is none.
    fn of(&self, runtime: &Value) -> String {
        let found = self.path.iter().try_fold(runtime, |value, name| step(value, name));
        match found {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

/// The field of that name; it may be written with a capital letter.
fn step<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let fields = value.as_object()?;
    fields.get(name).or_else(|| {
        let mut letters = name.chars();
        let small = letters.next()?.to_ascii_lowercase();
        fields.get(&format!("{small}{}", letters.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_to_values_however_they_are_written() {
        let runtime = json!({"instanceID": "i-1", "status": {"state": "failed", "n": 1}});

        let chosen = columns("ID:instanceID,S:{.status.state},N:Status.n,X:.none.more").unwrap();

        let values: Vec<String> = chosen.iter().map(|column| column.of(&runtime)).collect();
        assert_eq!(values, ["i-1", "failed", "1", ""]);
        assert_eq!(text(&chosen[..2], &[runtime]), "ID       S\ni-1      failed\n");
    }

    #[test]
    fn what_is_no_column_is_named() {
        assert_eq!(columns("").unwrap_err(), "custom format specified but no custom columns given");
        assert_eq!(
            columns("A:b,c").unwrap_err(),
            "unexpected custom spec: c, expected <header>:<json-path-expr>"
        );
    }
}
