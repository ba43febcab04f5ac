//! One SQL text for both databases, where only the time and the locking differ.
//!
//! In every such text `$1` is the time. PostgreSQL gets NULL for it and takes its own:
//! `statement_timestamp()` and not `clock_timestamp()`, which would keep indexes from being used.

/// The same statement for either database.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    pub(super) postgres: &'static str,
    pub(super) sqlite: &'static str,
}

/// Names a statement: literals, with `now` for the time, `skip` where rows that others hold are
/// passed over, and `wait` where they are waited for.
macro_rules! sql {
    ($name:ident = $($part:tt)+) => {
        const $name: $crate::engine::texts::Text = $crate::engine::texts::Text {
            postgres: concat!($($crate::engine::texts::postgres!($part)),+),
            sqlite: concat!($($crate::engine::texts::sqlite!($part)),+),
        };
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
    ($text:literal) => {
        $text
    };
}

pub(super) use {postgres, sql, sqlite};
