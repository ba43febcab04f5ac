//! Orchestrations of the original broker, and the upgrades that belong to them.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use sqlx::AssertSqlSafe;

use super::{
    super::{
        Error, RowError,
        read::{json, moment, null_is_default, row},
        source::reading,
    },
    KebSource,
};

const ALL: &str = "
    SELECT o.orchestration_id::text, row_to_json(o)::text FROM orchestrations o
    ORDER BY o.created_at, o.orchestration_id";
// A few fields of each: an orchestration may have thousands. A later try of the same instance counts instead of an earlier one.
const MEMBERS: &str = "
    SELECT m.id::text, row_to_json(m)::text FROM (
        SELECT o.id, o.orchestration_id, o.instance_id, o.type, o.state, o.description, o.created_at, o.updated_at,
            o.data::json -> 'runtime_operation' AS runtime_operation,
            o.provisioning_parameters::json ->> 'plan_id' AS plan_id,
            row_number() OVER (PARTITION BY o.orchestration_id ORDER BY o.created_at, o.id) - 1 AS position,
            row_number() OVER (
                PARTITION BY o.orchestration_id, o.instance_id ORDER BY o.created_at DESC, o.id DESC) > 1 AS superseded
        FROM operations o WHERE o.orchestration_id <> '') m
    ORDER BY m.orchestration_id, m.position";

/// An orchestration of the original broker.
#[derive(Debug, Clone, Deserialize)]
pub struct KebOrchestration {
    pub orchestration_id: String,
    /// `upgradeKyma` or `upgradeCluster`; the oldest generation has no column for it.
    #[serde(rename = "type", default, deserialize_with = "null_is_default")]
    pub kind: String,
    pub state: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub description: String,
    #[serde(default, deserialize_with = "json")]
    pub parameters: Value,
    #[serde(default, deserialize_with = "moment")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub updated_at: Option<Timestamp>,
}

/// The upgrade of one runtime in an orchestration of the original broker.
#[derive(Debug, Clone, Deserialize)]
pub struct KebMember {
    pub id: String,
    pub orchestration_id: String,
    pub instance_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub state: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub description: String,
    #[serde(default, deserialize_with = "moment")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub updated_at: Option<Timestamp>,
    /// The runtime as it was selected.
    #[serde(default, deserialize_with = "null_is_default")]
    pub runtime_operation: Value,
    #[serde(default, deserialize_with = "null_is_default")]
    pub plan_id: String,
    /// Its place in the orchestration, from 0.
    pub position: i64,
    /// Whether the same instance was tried again later.
    pub superseded: bool,
}

impl KebSource {
    /// The next orchestrations, the oldest first; nothing after the last ones.
    pub async fn next_orchestrations(
        &mut self,
        most: u32,
    ) -> Result<Vec<Result<KebOrchestration, RowError>>, Error> {
        if !self.source.has("orchestrations", "parameters") {
            return Ok(Vec::new());
        }
        let rows = self.next_rows("kcp_orchestrations", ALL, most).await?;
        Ok(rows.into_iter().map(|(id, text)| row(&id, &text)).collect())
    }

    /// The next upgrades that belong to orchestrations; nothing after the last ones.
    pub async fn next_members(
        &mut self,
        most: u32,
    ) -> Result<Vec<Result<KebMember, RowError>>, Error> {
        let needed = ["orchestration_id", "provisioning_parameters"];
        if !needed.iter().all(|column| self.source.has("operations", column)) {
            return Ok(Vec::new());
        }
        let rows = self.next_rows("kcp_members", MEMBERS, most).await?;
        Ok(rows.into_iter().map(|(id, text)| row(&id, &text)).collect())
    }

    /// The next rows of a list, which is opened by the first call: an id, and the row as JSON.
    pub(super) async fn next_rows(
        &mut self,
        cursor: &'static str,
        query: &str,
        most: u32,
    ) -> Result<Vec<(String, String)>, Error> {
        if !self.open_lists.contains(&cursor) {
            self.source.declare(cursor, query).await?;
            self.open_lists.push(cursor);
        }
        sqlx::query_as(AssertSqlSafe(format!("FETCH FORWARD {most} FROM {cursor}")))
            .persistent(false)
            .fetch_all(self.source.connection())
            .await
            .map_err(reading("reading the next rows of a list"))
    }
}
