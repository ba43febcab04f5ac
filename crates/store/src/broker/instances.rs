//! Reading instances, and whose operations are whose.

use uuid::Uuid;

use super::{
    BrokerStore, Instance,
    rows::{Row, can_be, columns},
};
use crate::{
    Error,
    sql::{list, sql},
};

const FIND: &str = concat!("SELECT ", columns!(), " FROM instances WHERE id = $1");
const FIND_BY_RUNTIME: &str =
    concat!("SELECT ", columns!(), " FROM instances WHERE runtime_id = $1");

/// The newest operation of an instance.
pub(super) const LAST_OPERATION: &str = "
    SELECT id FROM operations WHERE instance = $1
    ORDER BY instance DESC, created_at DESC, id DESC LIMIT 1";
sql!(LAST_OF_KINDS = "
    SELECT id FROM operations WHERE instance = $1 AND " (any "kind" "$2") "
    ORDER BY instance DESC, created_at DESC, id DESC LIMIT 1");
// One that was stopped before it began, or will be, has changed nothing. One that was abandoned in its first step has no beginning,
// but may have changed something: its step was on its way.
sql!(LAST_EFFECTIVE = "
    SELECT id FROM operations WHERE instance = $1 AND " (any "kind" "$2") "
    AND (started_at IS NOT NULL OR step_gone_at IS NOT NULL
         OR state NOT IN ('failed', 'canceled') AND cancel_state IS NULL)
    ORDER BY instance DESC, created_at DESC, id DESC LIMIT 1");
const BELONGS: &str = "SELECT instance FROM operations WHERE id = $1";

const COUNT: &str = "
    SELECT plan_id, plan_name, count(*) AS instances, count(deleted_at) AS left_over
    FROM instances GROUP BY plan_id, plan_name ORDER BY plan_id, plan_name";

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (FIND, ""),
    (FIND_BY_RUNTIME, "instances_one_per_runtime"),
    (LAST_OPERATION, "operations_of_instance"),
    (BELONGS, ""),
    (COUNT, "instances_of_plan"),
];
#[cfg(test)]
pub(super) const LISTS: &[(crate::sql::Text, &str)] =
    &[(LAST_OF_KINDS, "operations_of_instance"), (LAST_EFFECTIVE, "operations_of_instance")];

/// How many instances of one plan there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceCount {
    pub plan_id: String,
    /// The plan's name.
    pub plan_name: String,
    /// How many there are, those that are only left over not counted.
    pub instances: u64,
    /// How many are removed, with something left over.
    pub left_over: u64,
}

#[derive(sqlx_macros::FromRow)]
struct CountedRow {
    plan_id: String,
    plan_name: String,
    instances: i64,
    left_over: i64,
}

impl BrokerStore {
    /// One instance, also when something of it is only left over.
    pub async fn find(&self, id: &str) -> Result<Option<Instance>, Error> {
        if !can_be(id) {
            return Ok(None);
        }
        let row: Option<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(FIND).bind(id).fetch_optional(pool).await
        })?;
        row.map(|row| row.open(&self.sealer)).transpose()
    }

    /// The instance of a runtime.
    pub async fn find_by_runtime(&self, runtime: Uuid) -> Result<Option<Instance>, Error> {
        let row: Option<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(FIND_BY_RUNTIME).bind(runtime).fetch_optional(pool).await
        })?;
        row.map(|row| row.open(&self.sealer)).transpose()
    }

    /// The newest operation of an instance, of any kind or of one of these; also when the instance is gone.
    pub async fn last_operation(
        &self,
        instance: &str,
        kinds: Option<&[&str]>,
    ) -> Result<Option<Uuid>, Error> {
        if !can_be(instance) {
            return Ok(None);
        }
        let last = match kinds {
            None => on!(self.database().reader(), |pool| {
                sqlx::query_scalar(LAST_OPERATION).bind(instance).fetch_optional(pool).await
            }),
            Some(kinds) => on!(self.database().reader(), LAST_OF_KINDS, |text, pool| {
                sqlx::query_scalar(text).bind(instance).bind(list(kinds)).fetch_optional(pool).await
            }),
        };
        Ok(last?)
    }

    /// The newest operation of an instance, of one of these kinds, that was not stopped before it began; the newest if all of them were.
    pub async fn last_effective_operation(
        &self,
        instance: &str,
        kinds: &[&str],
    ) -> Result<Option<Uuid>, Error> {
        if !can_be(instance) {
            return Ok(None);
        }
        let last: Option<Uuid> = on!(self.database().reader(), LAST_EFFECTIVE, |text, pool| {
            sqlx::query_scalar(text).bind(instance).bind(list(kinds)).fetch_optional(pool).await
        })?;
        match last {
            Some(last) => Ok(Some(last)),
            None => self.last_operation(instance, Some(kinds)).await,
        }
    }

    /// The instance that an operation is of, also when the instance is gone.
    pub async fn operation_belongs(&self, operation: Uuid) -> Result<Option<String>, Error> {
        let instance = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(BELONGS).bind(operation).fetch_optional(pool).await
        })?;
        Ok(instance)
    }

    /// How many instances of each plan there are, for metrics.
    pub async fn count(&self) -> Result<Vec<InstanceCount>, Error> {
        let rows: Vec<CountedRow> =
            on!(self.database().reader(), |pool| sqlx::query_as(COUNT).fetch_all(pool).await)?;
        let counted = |row: CountedRow| InstanceCount {
            plan_id: row.plan_id,
            plan_name: row.plan_name,
            instances: (row.instances - row.left_over).unsigned_abs(),
            left_over: row.left_over.unsigned_abs(),
        };
        Ok(rows.into_iter().map(counted).collect())
    }
}
