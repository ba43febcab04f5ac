//! One SQL text for both databases, where only lists differ.
//!
//! A list is bound as the text of a JSON array: PostgreSQL would take an array, SQLite has none.

use uuid::Uuid;

/// The same statement for either database.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    pub(super) postgres: &'static str,
    pub(super) sqlite: &'static str,
}

/// Names a statement: literals, with `(any "column" "$1")` where a column is in a list of texts,
/// `(any_id "column" "$1")` where it is in a list of ids, `(first "column" "$1")` where it is the first of
/// a list, and `(unset "$1")` where there is no list; `columns` stands for those of a row.
macro_rules! sql {
    ($name:ident = $($part:tt)+) => {
        const $name: $crate::broker::texts::Text = $crate::broker::texts::sql!($($part)+);
    };
    ($($part:tt)+) => {
        $crate::broker::texts::Text {
            postgres: concat!($($crate::broker::texts::postgres!($part)),+),
            sqlite: concat!($($crate::broker::texts::sqlite!($part)),+),
        }
    };
}

macro_rules! postgres {
    ((any $column:literal $list:literal)) => {
        concat!($column, " = ANY(ARRAY(SELECT jsonb_array_elements_text(", $list, "::jsonb)))")
    };
    ((any_id $column:literal $list:literal)) => {
        concat!(
            $column,
            " = ANY(ARRAY(SELECT jsonb_array_elements_text(",
            $list,
            "::jsonb)::uuid))"
        )
    };
    ((first $column:literal $list:literal)) => {
        concat!($column, " = (", $list, "::jsonb ->> 0)")
    };
    ((unset $list:literal)) => {
        concat!($list, "::text IS NULL")
    };
    (columns) => {
        $crate::broker::rows::columns!()
    };
    ($text:literal) => {
        $text
    };
}

macro_rules! sqlite {
    ((any $column:literal $list:literal)) => {
        concat!($column, " IN (SELECT value FROM json_each(", $list, "))")
    };
    ((any_id $column:literal $list:literal)) => {
        concat!($column, " IN (SELECT unhex(value) FROM json_each(", $list, "))")
    };
    ((first $column:literal $list:literal)) => {
        concat!($column, " = (", $list, " ->> 0)")
    };
    ((unset $list:literal)) => {
        concat!($list, " IS NULL")
    };
    (columns) => {
        $crate::broker::rows::columns!()
    };
    ($text:literal) => {
        $text
    };
}

pub(super) use {postgres, sql, sqlite};

/// A list of texts to bind. What no column can hold is left out: nothing equals it.
pub(super) fn list<T: AsRef<str>>(values: &[T]) -> String {
    let values = values.iter().map(AsRef::as_ref).filter(|value| !value.contains('\0'));
    values.collect::<serde_json::Value>().to_string()
}

/// A list of ids to bind.
pub(super) fn ids(values: &[Uuid]) -> String {
    let values = values.iter().map(|id| id.simple().to_string());
    values.collect::<serde_json::Value>().to_string()
}
