//! Columns of the caller's choice, `HEADER:PATH[,…]`, with paths as kubectl writes them.
//!
//! What a reader would get wrong: names, indexes and `[*]` are understood. What is not (filters, slices, `range`) is an
//! error, because an empty column would look like an answer.

use serde_json::Value;

use super::format::plain;

/// A column: what stands above it, and where its values are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(super) head: String,
    path: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Field(String),
    /// From the end, where it is negative.
    Index(i64),
    Every,
}

/// Reads columns. Paths may have braces, a `$` and a dot before them.
pub(super) fn read(text: &str) -> Result<Vec<Column>, String> {
    if text.is_empty() {
        return Err("custom format specified but no custom columns given".into());
    }
    text.split(',')
        .map(|part| {
            let (head, path) = part.split_once(':').ok_or_else(|| {
                format!("unexpected custom spec: {part}, expected <header>:<json-path-expr>")
            })?;
            Ok(Column { head: head.to_owned(), path: parts(path)? })
        })
        .collect()
}

fn parts(text: &str) -> Result<Vec<Part>, String> {
    let refused = || format!("the path {text} is not supported: names, [0] and [*] are");
    let inner = text.strip_prefix('{').map_or(text, |inner| inner.trim_end_matches('}'));
    let mut rest = inner.trim_start_matches('$').trim_start_matches('.');
    let mut parts = Vec::new();
    while !rest.is_empty() {
        if let Some(bracket) = rest.strip_prefix('[') {
            let (inside, after) = bracket.split_once(']').ok_or_else(refused)?;
            let quoted = inside.strip_prefix('\'').and_then(|name| name.strip_suffix('\''));
            parts.push(match (inside, quoted, inside.parse()) {
                ("*", ..) => Part::Every,
                (_, Some(name), _) => Part::Field(name.to_owned()),
                (_, _, Ok(index)) => Part::Index(index),
                _ => return Err(refused()),
            });
            rest = after.strip_prefix('.').unwrap_or(after);
            continue;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let wrong = |c: char| c.is_whitespace() || "{}()?@\"'".contains(c);
        if name.is_empty() || name.contains(wrong) {
            return Err(refused());
        }
        parts.push(if name == "*" { Part::Every } else { Part::Field(name.to_owned()) });
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    Ok(parts)
}

impl Column {
    /// The values, with spaces between them; nothing where there is none.
    pub(super) fn of(&self, item: &Value) -> String {
        let mut found = vec![item];
        for part in &self.path {
            found = found.into_iter().flat_map(|value| step(value, part)).collect();
        }
        found.into_iter().map(plain).collect::<Vec<_>>().join(" ")
    }
}

fn step<'a>(value: &'a Value, part: &Part) -> Vec<&'a Value> {
    match part {
        Part::Field(name) => field(value, name).into_iter().collect(),
        Part::Every => match value {
            Value::Array(all) => all.iter().collect(),
            Value::Object(fields) => fields.values().collect(),
            _ => Vec::new(),
        },
        Part::Index(index) => {
            let Some(all) = value.as_array() else { return Vec::new() };
            let length = i64::try_from(all.len()).unwrap_or(i64::MAX);
            let index = if *index < 0 { length.saturating_add(*index) } else { *index };
            usize::try_from(index).ok().and_then(|index| all.get(index)).into_iter().collect()
        }
    }
}

/// The field of that name; it may be written with a capital letter.
fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
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
        let runtime = json!({
            "instanceID": "i-1", "status": {"state": "failed", "n": 1, "stages": ["a", "b", "c"]},
            "a.b": true,
        });

        let chosen = read(
            "ID:instanceID,S:{.status.state},N:Status.n,X:.none.more,F:{.status.stages[0]},\
             L:$.status.stages[-1],E:{.status.stages[*]},Q:['a.b'],O:status.stages[9]",
        )
        .unwrap();

        let values: Vec<String> = chosen.iter().map(|column| column.of(&runtime)).collect();
        assert_eq!(values, ["i-1", "failed", "1", "", "a", "c", "a b c", "true", ""]);
    }

    #[test]
    fn what_is_no_column_is_named() {
        assert_eq!(read("").unwrap_err(), "custom format specified but no custom columns given");
        assert_eq!(
            read("A:b,c").unwrap_err(),
            "unexpected custom spec: c, expected <header>:<json-path-expr>"
        );
        for wrong in ["{range .items[*]}", "a[?(@.x==1)]", "a..b", "a[1:2]", "a[", "\"a\""] {
            let error = read(&format!("A:{wrong}")).unwrap_err();
            assert!(error.contains("is not supported"), "{wrong}: {error}");
        }
    }
}
