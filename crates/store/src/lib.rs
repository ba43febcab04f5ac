//! Everything that must survive a restart; the only crate with SQL.
