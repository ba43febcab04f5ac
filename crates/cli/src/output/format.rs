//! The flag `-o`, and the one place where answers are printed as it says.

use std::str::FromStr;

use serde_json::Value;

use super::{
    columns,
    grid::{Head, grid},
    json, json_line,
    path::{Column, read},
    print, print_styled, style,
};

/// How an answer looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Table,
    /// For people, with every column and nothing cut.
    Wide,
    /// With the columns of the known client, where they are others.
    Known,
    /// For programs.
    Json,
    /// For programs and people.
    Yaml,
    /// Only what other commands take as an argument, one per line.
    Name,
    /// Columns that the caller chooses. Leaked once: the command line is read once.
    Custom(&'static [Column]),
}

/// How a list looks as a table.
pub(crate) struct Layout<'a> {
    pub(crate) head: &'a [Head],
    /// Where an element has what other commands take, as a JSON pointer.
    pub(crate) name: &'a str,
    /// The text for an empty list; empty: only the head.
    pub(crate) empty: &'a str,
}

/// Reads the flag.
pub(crate) fn format(text: &str) -> Result<Format, String> {
    text.parse()
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "table" => Ok(Self::Table),
            "wide" => Ok(Self::Wide),
            "known" => Ok(Self::Known),
            "json" => Ok(Self::Json),
            "yaml" => Ok(Self::Yaml),
            "name" => Ok(Self::Name),
            other => match other.strip_prefix("custom=") {
                Some(columns) => Ok(Self::Custom(Vec::leak(read(columns)?))),
                None => Err(format!(
                    "invalid value for output: {other}; one of table, wide, known, json, yaml, \
                     name, custom=HEADER:PATH[,…]"
                )),
            },
        }
    }
}

impl Format {
    /// Prints a list: `answer` is all of it, `row` makes the cells of every column in the head.
    pub(crate) fn list(
        self,
        answer: &Value,
        items: &[Value],
        layout: &Layout<'_>,
        row: impl Fn(&Value) -> Vec<String>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Json => json(answer),
            Self::Yaml => yaml(answer),
            Self::Name => {
                let names = items.iter().filter_map(|item| item.pointer(layout.name));
                let lines = names.flat_map(|name| [plain(name), "\n".to_owned()]);
                print(&lines.collect::<String>())
            }
            Self::Custom(chosen) => print(&custom(chosen, items)),
            Self::Table | Self::Known | Self::Wide => {
                if items.is_empty() && !layout.empty.is_empty() {
                    return print(&format!("{}\n", layout.empty));
                }
                print_styled(&self.table(items, layout, row))
            }
        }
    }

    /// Prints more of a list whose beginning is printed: without the head.
    pub(crate) fn more(
        self,
        answer: &Value,
        items: &[Value],
        layout: &Layout<'_>,
        row: impl Fn(&Value) -> Vec<String>,
    ) -> anyhow::Result<()> {
        let text = match self {
            Self::Custom(chosen) => custom(chosen, items),
            Self::Table | Self::Known | Self::Wide => self.table(items, layout, row),
            Self::Json | Self::Yaml | Self::Name => return self.list(answer, items, layout, row),
        };
        print_styled(text.split_once('\n').map_or("", |(_, rows)| rows))
    }

    /// The table of a list: a line for each item below the head. Its cells are harmless.
    pub(crate) fn table(
        self,
        items: &[Value],
        layout: &Layout<'_>,
        row: impl Fn(&Value) -> Vec<String>,
    ) -> String {
        let rows: Vec<Vec<String>> = items.iter().map(row).collect();
        grid(layout.head, &rows, self == Self::Wide, style::width())
    }

    /// Whether what goes on is printed as one document after the other.
    pub(crate) fn is_documents(self) -> bool {
        matches!(self, Self::Json | Self::Yaml)
    }

    /// Whether only what was chosen is printed: of what goes on, nothing.
    pub(crate) fn is_quiet(self) -> bool {
        matches!(self, Self::Name | Self::Custom(_))
    }

    /// Prints one of several documents: a line of JSON, or YAML that begins with `---`.
    pub(crate) fn document(self, value: &Value) -> anyhow::Result<()> {
        match self {
            Self::Yaml => print(&format!("---\n{}", serde_saphyr::to_string(value)?)),
            _ => json_line(value),
        }
    }

    /// Prints an answer about one thing, whose name or id is `name`.
    pub(crate) fn show(
        self,
        answer: &Value,
        name: &str,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        match self {
            Self::Json => json(answer),
            Self::Yaml => yaml(answer),
            Self::Name => print(&format!("{name}\n")),
            Self::Custom(chosen) => print(&custom(chosen, std::slice::from_ref(answer))),
            Self::Table | Self::Known | Self::Wide => print(&text()),
        }
    }
}

fn yaml(value: &Value) -> anyhow::Result<()> {
    print(&serde_saphyr::to_string(value)?)
}

fn custom(chosen: &[Column], items: &[Value]) -> String {
    let head = chosen.iter().map(|column| column.head.clone()).collect();
    let row = |item: &Value| chosen.iter().map(|column| column.of(item)).collect();
    columns(head, items.iter().map(row))
}

/// A value as people read it: texts without their quotes, nothing for null.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_format_is_answered_with_those_there_are() {
        assert_eq!("yaml".parse(), Ok(Format::Yaml));
        let error = "xml".parse::<Format>().unwrap_err();
        assert!(
            error.contains("xml; one of table, wide, known, json, yaml, name, custom="),
            "{error}"
        );
        let error = "custom=".parse::<Format>().unwrap_err();
        assert_eq!(error, "custom format specified but no custom columns given");
    }
}
