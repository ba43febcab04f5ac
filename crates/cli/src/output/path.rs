//! Columns of the caller's choice, `HEADER:PATH[,…]`, with paths as kubectl writes them.
//!
//! What a reader would get wrong: what is not understood (`range`, unions, regular expressions) is an error, because an empty column
//! would look like an answer.

mod filter;

use serde_json::Value;

use super::format::plain;
use filter::Filter;

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
    /// From one index to before another, from the end where they are negative.
    Slice(Option<i64>, Option<i64>),
    Filter(Filter),
    /// The fields of this name at any depth.
    Below(String),
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
    let refused = || {
        let supported = "names, [0], [1:3], [*], ..name and [?(@.name==\"value\")] are";
        format!("the path {text} is not supported: {supported}")
    };
    let inner = text.strip_prefix('{').map_or(text, |inner| inner.trim_end_matches('}'));
    let mut rest = inner.trim_start_matches('$');
    let mut parts = Vec::new();
    while !rest.is_empty() && rest != "." {
        if let Some(condition) = rest.strip_prefix("[?(") {
            let (condition, after) = condition.split_once(")]").ok_or_else(refused)?;
            parts.push(Part::Filter(Filter::read(condition).ok_or_else(refused)?));
            rest = after;
        } else if let Some(bracket) = rest.strip_prefix('[') {
            let (inside, after) = bracket.split_once(']').ok_or_else(refused)?;
            parts.push(in_brackets(inside).ok_or_else(refused)?);
            rest = after;
        } else {
            let below = rest.strip_prefix("..");
            let begin = below.or(rest.strip_prefix('.')).unwrap_or(rest);
            let end = begin.find(['.', '[']).unwrap_or(begin.len());
            let (name, after) = begin.split_at(end);
            let wrong = |c: char| c.is_whitespace() || "{}()?@\"'".contains(c);
            // A bracket may stand behind a dot.
            let is_bracket = name.is_empty() && after.starts_with('[') && begin != rest;
            if (name.is_empty() && !is_bracket) || name.contains(wrong) {
                return Err(refused());
            }
            match (name, below) {
                ("" | "*", Some(_)) => return Err(refused()),
                ("", None) => {}
                ("*", None) => parts.push(Part::Every),
                (_, Some(_)) => parts.push(Part::Below(name.to_owned())),
                (_, None) => parts.push(Part::Field(name.to_owned())),
            }
            rest = after;
        }
    }
    Ok(parts)
}

/// What stands in brackets, but for filters.
fn in_brackets(inside: &str) -> Option<Part> {
    if inside == "*" {
        return Some(Part::Every);
    }
    if let Some(name) = inside.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')) {
        return Some(Part::Field(name.to_owned()));
    }
    let Some((from, to)) = inside.split_once(':') else {
        return inside.parse().ok().map(Part::Index);
    };
    let end = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    Some(Part::Slice(end(from)?, end(to)?))
}

impl Column {
    /// The values, with spaces between them; nothing where there is none.
    pub(super) fn of(&self, item: &Value) -> String {
        follow(item, &self.path).into_iter().map(plain).collect::<Vec<_>>().join(" ")
    }
}

/// The values that a path leads to.
fn follow<'a>(item: &'a Value, path: &[Part]) -> Vec<&'a Value> {
    let mut found = vec![item];
    for part in path {
        found = found.into_iter().flat_map(|value| step(value, part)).collect();
    }
    found
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
            let index = from_begin(*index, all.len());
            usize::try_from(index).ok().and_then(|index| all.get(index)).into_iter().collect()
        }
        Part::Slice(from, to) => {
            let Some(all) = value.as_array() else { return Vec::new() };
            let place = |index: i64| {
                usize::try_from(from_begin(index, all.len())).unwrap_or(0).min(all.len())
            };
            let (from, to) = (from.map_or(0, place), to.map_or(all.len(), place));
            all.get(from..to).unwrap_or_default().iter().collect()
        }
        Part::Filter(filter) => {
            let all = value.as_array().into_iter().flatten();
            all.filter(|element| filter.is_true_of(element)).collect()
        }
        Part::Below(name) => {
            let mut found: Vec<&Value> = field(value, name).into_iter().collect();
            found.extend(step(value, &Part::Every).into_iter().flat_map(|it| step(it, part)));
            found
        }
    }
}

/// An index from the beginning; negative ones are from the end.
fn from_begin(index: i64, length: usize) -> i64 {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    if index < 0 { length.saturating_add(index) } else { index }
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
    fn elements_are_chosen_by_slices_and_conditions_and_fields_at_any_depth() {
        let runtime = json!({
            "operations": [
                {"type": "provision", "n": 1, "state": {"word": "succeeded"}},
                {"type": "up.grade", "n": 12, "state": {"word": "failed"}, "error": "why"},
                {"type": "update", "n": 3.5},
            ],
        });
        let of = |path: &str| read(&format!("A:{path}")).unwrap()[0].of(&runtime);

        for (path, expected) in [
            ("operations[0:2].type", "provision up.grade"),
            ("{.operations[1:].type}", "up.grade update"),
            ("operations[:-1].n", "1 12"),
            ("operations[-2:].n", "12 3.5"),
            ("operations[2:1].n", ""),
            ("operations[5:9].n", ""),
            ("{.operations[?(@.type==\"up.grade\")].state.word}", "failed"),
            ("operations[?(@.type == 'update')].n", "3.5"),
            ("operations[?(@.type!='update')].n", "1 12"),
            ("operations[?(@.state.word=='failed')].n", "12"),
            ("operations[?(@.n>=3.5)].type", "up.grade update"),
            ("operations[?(@.n>3.5)].type", "up.grade"),
            ("operations[?(@.n<=1)].type", "provision"),
            ("operations[?(@.n<12)].type", "provision update"),
            ("operations[?(@.n=='1')].type", ""),
            ("operations[?(@.error)].n", "12"),
            ("{..word}", "succeeded failed"),
            ("operations..word", "succeeded failed"),
            (".operations.[0].type", "provision"),
        ] {
            assert_eq!(of(path), expected, "{path}");
        }
    }

    #[test]
    fn what_is_no_column_is_named() {
        assert_eq!(read("").unwrap_err(), "custom format specified but no custom columns given");
        assert_eq!(
            read("A:b,c").unwrap_err(),
            "unexpected custom spec: c, expected <header>:<json-path-expr>"
        );
        for wrong in [
            "{range .items[*]}",
            "a[?(@.x==b)]",
            "a[?(@.x=='b'')]",
            "a[?(x==1)]",
            "a[?(@.x==1]",
            "a..",
            "a..*",
            "a[1:b]",
            "a[1:2:3]",
            "a[",
            "\"a\"",
        ] {
            let error = read(&format!("A:{wrong}")).unwrap_err();
            assert!(error.contains("is not supported"), "{wrong}: {error}");
        }
    }
}
