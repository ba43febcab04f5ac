//! The runtimes of an orchestration, with what their operations say.

use base::Failure;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    Error, Moment,
    broker::BrokerStore,
    sql::{Text, ids, list, sql},
};

macro_rules! columns {
    () => {
        "m.operation_id, m.orchestration, m.position, m.wave, m.instance, m.runtime_id, m.shoot_name,
         m.global_account, m.subaccount, m.plan_id, m.plan_name, m.window_rule, m.window_begin, m.window_end,
         m.state, m.description, m.accepted, m.superseded, m.started_at, m.ended_at, o.note, o.failure,
         o.cancel_reason"
    };
}
pub(super) use columns;

sql!(PAGE = "
    SELECT m.operation_id, m.orchestration, m.position, m.wave, m.instance, m.runtime_id, m.shoot_name,
           m.global_account, m.subaccount, m.plan_id, m.plan_name, m.window_rule, m.window_begin, m.window_end,
           m.state, m.description, m.accepted, m.superseded, m.started_at, m.ended_at, o.note, o.failure,
           o.cancel_reason
    FROM orchestration_operations m LEFT JOIN operations o ON o.id = m.operation_id
    WHERE m.orchestration = $1 AND (" (unset "$2") " OR " (any "m.state" "$2") ")
      AND (NOT m.superseded OR NOT $5)
    ORDER BY m.position LIMIT $3 OFFSET $4");
sql!(TOTAL = "
    SELECT count(*) FROM orchestration_operations m
    WHERE m.orchestration = $1 AND (" (unset "$2") " OR " (any "m.state" "$2") ") AND (NOT m.superseded OR NOT $3)");
const FIND: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM orchestration_operations m LEFT JOIN operations o ON o.id = m.operation_id
      WHERE m.operation_id = $1"
);

// Whether the orchestrations of some operations only try things out.
macro_rules! dry_runs {
    ($is_one:literal, $any:literal) => {
        concat!(
            "SELECT m.operation_id, ",
            $is_one,
            " FROM orchestration_operations m JOIN orchestrations c ON c.id = m.orchestration
             WHERE m.operation_id ",
            $any
        )
    };
}
const DRY_RUNS: Text = Text {
    postgres: dry_runs!(
        "c.parameters::jsonb @> '{\"dryRun\": true}'::jsonb",
        "= ANY(ARRAY(SELECT jsonb_array_elements_text($1::jsonb)::uuid))"
    ),
    sqlite: dry_runs!(
        "json_extract(c.parameters, '$.dryRun') IS 1",
        "IN (SELECT unhex(value) FROM json_each($1))"
    ),
};

/// The list that goes by primary keys.
#[cfg(test)]
pub(super) const LIST: (Text, &str) = (DRY_RUNS, "");

/// The upgrade of one runtime in an orchestration.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its operation, accepted or not.
    pub operation: Uuid,
    /// The orchestration.
    pub orchestration: Uuid,
    /// Its place in the order.
    pub position: i64,
    /// 0: canaries, 1: all others.
    pub wave: i64,
    /// The instance.
    pub instance: String,
    /// The runtime.
    pub runtime_id: Uuid,
    /// The name of its Shoot.
    pub shoot_name: String,
    /// The global account.
    pub global_account: String,
    /// The subaccount.
    pub subaccount: String,
    /// The plan.
    pub plan_id: String,
    /// The plan's name.
    pub plan_name: String,
    /// Its maintenance window.
    pub window_rule: Option<String>,
    /// Not before.
    pub window_begin: Option<Timestamp>,
    /// Not after.
    pub window_end: Option<Timestamp>,
    /// How far it is.
    pub state: String,
    /// Its progress, for people: the last description of its operation.
    pub description: String,
    /// Whether its operation is stored.
    pub accepted: bool,
    /// Whether it is tried again by a later one.
    pub superseded: bool,
    /// When its operation began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What went wrong.
    pub failure: Option<Failure>,
}

#[derive(sqlx_macros::FromRow)]
pub(super) struct Row {
    operation_id: Uuid,
    orchestration: Uuid,
    position: i64,
    wave: i64,
    instance: String,
    runtime_id: Uuid,
    shoot_name: String,
    global_account: String,
    subaccount: String,
    plan_id: String,
    plan_name: String,
    window_rule: Option<String>,
    window_begin: Option<Moment>,
    window_end: Option<Moment>,
    state: String,
    description: String,
    accepted: bool,
    superseded: bool,
    started_at: Option<Moment>,
    ended_at: Option<Moment>,
    note: Option<String>,
    failure: Option<String>,
    cancel_reason: Option<String>,
}

impl From<Row> for Member {
    fn from(row: Row) -> Self {
        // A failure that cannot be read is still one: its state says so.
        let failure: Option<Failure> =
            row.failure.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let said = match row.state.as_str() {
            "failed" => failure.as_ref().map(|failure| failure.message.clone()),
            "canceled" => row.cancel_reason,
            _ => None,
        };
        Self {
            operation: row.operation_id,
            orchestration: row.orchestration,
            position: row.position,
            wave: row.wave,
            instance: row.instance,
            runtime_id: row.runtime_id,
            shoot_name: row.shoot_name,
            global_account: row.global_account,
            subaccount: row.subaccount,
            plan_id: row.plan_id,
            plan_name: row.plan_name,
            window_rule: row.window_rule,
            window_begin: row.window_begin.map(Into::into),
            window_end: row.window_end.map(Into::into),
            state: row.state,
            description: said.or(row.note).unwrap_or(row.description),
            accepted: row.accepted,
            superseded: row.superseded,
            started_at: row.started_at.map(Into::into),
            ended_at: row.ended_at.map(Into::into),
            failure,
        }
    }
}

/// Which runtimes of an orchestration.
#[derive(Debug, Clone)]
pub struct MemberFilter {
    /// The orchestration.
    pub orchestration: Uuid,
    /// In these states; in any when there is none.
    pub states: Vec<String>,
    /// Without those that are tried again by a later one.
    pub current: bool,
    /// How many of them to pass over.
    pub skip: u32,
    /// How many at most.
    pub most: u32,
}

/// Some runtimes of an orchestration.
#[derive(Debug, Clone, Default)]
pub struct MemberPage {
    /// In their order.
    pub members: Vec<Member>,
    /// How many there are on all pages.
    pub total: u64,
}

impl BrokerStore {
    /// A page of the runtimes of an orchestration, in their order.
    pub async fn members(&self, filter: &MemberFilter) -> Result<MemberPage, Error> {
        let states = (!filter.states.is_empty()).then(|| list(&filter.states));
        let rows: Vec<Row> = on!(self.database().reader(), PAGE, |text, pool| {
            sqlx::query_as(text)
                .bind(filter.orchestration)
                .bind(states.clone())
                .bind(i64::from(filter.most))
                .bind(i64::from(filter.skip))
                .bind(filter.current)
                .fetch_all(pool)
                .await
        })?;
        let total: i64 = on!(self.database().reader(), TOTAL, |text, pool| {
            let query = sqlx::query_scalar(text).bind(filter.orchestration).bind(states);
            query.bind(filter.current).fetch_one(pool).await
        })?;
        let members = rows.into_iter().map(Member::from).collect();
        Ok(MemberPage { members, total: total.unsigned_abs() })
    }

    /// One runtime of an orchestration, by its operation.
    pub async fn member(&self, operation: Uuid) -> Result<Option<Member>, Error> {
        let found: Option<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(FIND).bind(operation).fetch_optional(pool).await
        })?;
        Ok(found.map(Member::from))
    }

    /// Whether the orchestrations of these operations are dry runs, in no order; nothing about operations that have none.
    pub async fn dry_runs(&self, operations: &[Uuid]) -> Result<Vec<(Uuid, bool)>, Error> {
        if operations.is_empty() {
            return Ok(Vec::new());
        }
        Ok(on!(self.database().reader(), DRY_RUNS, |text, pool| {
            sqlx::query_as(text).bind(ids(operations)).fetch_all(pool).await
        })?)
    }
}
