//! One SQL text for both databases, where only the time, locking and lists differ.
//!
//! Where a text uses `now`, `$1` is the time. PostgreSQL gets NULL for it and takes its own:
//! `statement_timestamp()` and not `clock_timestamp()`, which would keep indexes from being used. A list is bound as the
//! text of a JSON array: PostgreSQL would take an array, SQLite has none.

use uuid::Uuid;

/// The same statement for either database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    pub(crate) postgres: &'static str,
    pub(crate) sqlite: &'static str,
}

/// Names a statement: literals, with `now` for the time, `skip` where rows that others hold are passed over, `wait` where
/// they are waited for, `(any "column" "$1")` where a column is in a list of texts, `(any_id "column" "$1")` where it is
/// in a list of ids, `(first "column" "$1")` where it is the first of a list, `(first_besides "column" "word" "$1")` where it is that and not this word
/// besides, as a partial index needs it, `(unset "$1")` where there is no list, `(between "column" "$1" "$2")` where
/// it is not before one text and before another, by bytes, and `instance_columns` for the columns of an instance.
macro_rules! sql {
    ($name:ident = $($part:tt)+) => {
        const $name: $crate::sql::Text = $crate::sql::sql!($($part)+);
    };
    ($($part:tt)+) => {
        $crate::sql::Text {
            postgres: concat!($($crate::sql::postgres!($part)),+),
            sqlite: concat!($($crate::sql::sqlite!($part)),+),
        }
    };
}

macro_rules! postgres {
    (now) => {
        "COALESCE($1, statement_timestamp())"
    };
    (skip) => {
        " FOR UPDATE SKIP LOCKED"
    };
    (wait) => {
        " FOR UPDATE"
    };
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
    ((first_besides $column:literal $common:literal $list:literal)) => {
        concat!($column, " <> '", $common, "' AND ", $column, " = (", $list, "::jsonb ->> 0)")
    };
    ((unset $list:literal)) => {
        concat!($list, "::text IS NULL")
    };
    ((between $column:literal $from:literal $to:literal)) => {
        concat!($column, " COLLATE \"C\" >= ", $from, " AND ", $column, " COLLATE \"C\" < ", $to)
    };
    (instance_columns) => {
        $crate::broker::columns!()
    };
    ($text:literal) => {
        $text
    };
}

macro_rules! sqlite {
    (now) => {
        "$1"
    };
    (skip) => {
        ""
    };
    (wait) => {
        ""
    };
    ((any $column:literal $list:literal)) => {
        concat!($column, " IN (SELECT value FROM json_each(", $list, "))")
    };
    ((any_id $column:literal $list:literal)) => {
        concat!($column, " IN (SELECT unhex(value) FROM json_each(", $list, "))")
    };
    ((first $column:literal $list:literal)) => {
        concat!($column, " = (", $list, " ->> 0)")
    };
    ((first_besides $column:literal $common:literal $list:literal)) => {
        concat!($column, " <> '", $common, "' AND ", $column, " = (", $list, " ->> 0)")
    };
    ((unset $list:literal)) => {
        concat!($list, " IS NULL")
    };
    ((between $column:literal $from:literal $to:literal)) => {
        concat!($column, " >= ", $from, " AND ", $column, " < ", $to)
    };
    (instance_columns) => {
        $crate::broker::columns!()
    };
    ($text:literal) => {
        $text
    };
}

pub(crate) use {postgres, sql, sqlite};

/// A list of texts to bind. What no column can hold is left out: nothing equals it.
pub(crate) fn list<T: AsRef<str>>(values: &[T]) -> String {
    let values = values.iter().map(AsRef::as_ref).filter(|value| !value.contains('\0'));
    values.collect::<serde_json::Value>().to_string()
}

/// A list of ids to bind.
pub(crate) fn ids(values: &[Uuid]) -> String {
    let values = values.iter().map(|id| id.simple().to_string());
    values.collect::<serde_json::Value>().to_string()
}
