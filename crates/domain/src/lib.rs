//! The words of the business as types; no I/O, no async.
