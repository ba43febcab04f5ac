//! Generated rows on PostgreSQL: copied, which is several times as fast as inserting them.
//!
//! What a reader would get wrong: references between rows are not checked meanwhile. The generator makes what they refer to.

use std::fmt::Write as _;

use anyhow::Context as _;
use jiff::Timestamp;
use serde_json::Value;
use sqlx::{Connection as _, PgConnection};

use super::generate::Rows;

/// A column: its name, and where its value comes from.
type Column = (&'static str, Cell);

#[derive(Clone, Copy)]
enum Cell {
    /// The text of a field; nothing where it is missing.
    Text(&'static str),
    /// The bytes whose hex digits are in a field.
    Bytes(&'static str),
    /// The time whose microseconds are in a field, or in the other one; nothing where both are missing.
    Time(&'static str, &'static str),
    /// The same for all.
    Same(&'static str),
}
use Cell::{Bytes, Same, Text, Time};

const OPERATIONS: &[Column] = &[
    ("id", Text("id")),
    ("root", Text("id")),
    ("instance", Text("instance")),
    ("kind", Text("kind")),
    ("data_version", Same("1")),
    ("epoch", Same("1")),
    ("lane", Text("lane")),
    ("state", Text("state")),
    ("due_at", Time("due_at", "")),
    ("created_at", Time("created_at", "")),
    ("started_at", Time("created_at", "")),
    ("updated_at", Time("ended_at", "created_at")),
    ("ended_at", Time("ended_at", "")),
];
const INPUTS: &[Column] = &[("operation_id", Text("id")), ("input", Bytes("input"))];
const DATA: &[Column] = &[("operation_id", Text("id")), ("data", Bytes("data"))];
const INSTANCES: &[Column] = &[
    ("id", Text("id")),
    ("global_account", Text("global_account")),
    ("subaccount", Text("subaccount")),
    ("service_id", Text("service_id")),
    ("plan_id", Text("plan_id")),
    ("plan_name", Text("plan_name")),
    ("provider", Text("provider")),
    ("region", Text("region")),
    ("platform_region", Same("cf-eu10")),
    ("shoot_name", Text("shoot_name")),
    ("runtime_id", Text("runtime_id")),
    ("dashboard_url", Same("https://dashboard.test")),
    ("ordered", Bytes("ordered")),
    ("digest", Same("")),
    ("accepted_by", Text("accepted_by")),
    ("created_at", Time("created_at", "")),
    ("updated_at", Time("created_at", "")),
    ("deleted_at", Time("deleted_at", "")),
    ("standing", Text("standing")),
];

/// Stores operations and instances.
pub(super) async fn store(connection: &mut PgConnection, rows: &Rows) -> anyhow::Result<()> {
    let Rows { operations, instances } = rows;
    let mut transaction = connection.begin().await?;
    sqlx::raw_sql("SET LOCAL session_replication_role = replica")
        .execute(&mut *transaction)
        .await?;
    for (table, columns, rows) in [
        ("operations", OPERATIONS, operations),
        ("operation_inputs", INPUTS, operations),
        ("operation_data", DATA, operations),
        ("instances", INSTANCES, instances),
    ] {
        let copied = copy(&mut transaction, table, columns, rows).await;
        copied.with_context(|| format!("table {table}"))?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn copy(
    connection: &mut PgConnection,
    table: &str,
    columns: &[Column],
    rows: &[Value],
) -> anyhow::Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let statement = format!("COPY {table} ({}) FROM STDIN", names.join(", "));
    let mut text = String::new();
    for row in rows {
        for (at, (_, cell)) in columns.iter().enumerate() {
            if at > 0 {
                text.push('\t');
            }
            cell.write(row, &mut text)?;
        }
        text.push('\n');
    }
    let mut copying = connection.copy_in_raw(&statement).await?;
    copying.send(text.into_bytes()).await?;
    copying.finish().await?;
    Ok(())
}

/// What stands for no value.
const NOTHING: &str = "\\N";

impl Cell {
    fn write(self, row: &Value, text: &mut String) -> anyhow::Result<()> {
        match self {
            Text(field) => text.push_str(row[field].as_str().unwrap_or(NOTHING)),
            Bytes(field) => match row[field].as_str() {
                Some(digits) => write!(text, "\\\\x{digits}")?,
                None => text.push_str(NOTHING),
            },
            Time(field, other) => match row[field].as_i64().or_else(|| row[other].as_i64()) {
                Some(micros) => write!(text, "{}", Timestamp::from_microsecond(micros)?)?,
                None => text.push_str(NOTHING),
            },
            Same(value) => text.push_str(value),
        }
        Ok(())
    }
}
