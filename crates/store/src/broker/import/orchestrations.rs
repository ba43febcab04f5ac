//! Orchestrations that another program has ended, with their runtimes.
//!
//! What a reader would get wrong: an upgrade belongs to an imported orchestration only when its operation is here. So the upgrades of an
//! instance that was left out at first are added by a later import. Only their orchestration says whether they were dry runs.

use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    Error, Moment,
    broker::BrokerStore,
    sql::{Text, list},
};

// No operation of ours drives it.
const ORCHESTRATION: &str = "
    INSERT INTO orchestrations (id, kind, state, description, parameters, driver, workers, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
const MEMBER: &str = "
    INSERT INTO orchestration_operations (operation_id, orchestration, position, wave, instance, runtime_id,
        shoot_name, global_account, subaccount, plan_id, plan_name, window_begin, window_end, state,
        description, accepted, superseded, created_at, started_at, ended_at)
    SELECT $1, $2, $3, 1, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, true, $15, $16, $17, $18
    WHERE EXISTS (SELECT 1 FROM operations WHERE id = $1)
      AND EXISTS (SELECT 1 FROM orchestrations WHERE id = $2 AND driver = $19)
    ON CONFLICT DO NOTHING";

// How instances stand once it is known which of their upgrades were dry runs. It sorts the few operations of each instance.
macro_rules! settle {
    ($any:literal, $standing:literal) => {
        concat!(
            "UPDATE instances SET standing = ",
            $standing,
            " WHERE id ",
            $any,
            " AND standing <> ",
            $standing
        )
    };
}
const SETTLE: Text = Text {
    postgres: settle!(
        "= ANY(ARRAY(SELECT jsonb_array_elements_text($1::jsonb)))",
        "standing_of_instance(instances)"
    ),
    sqlite: settle!(
        "IN (SELECT value FROM json_each($1))",
        "(SELECT s.standing FROM standing_of_instances s WHERE s.id = instances.id)"
    ),
};

/// The statements that go by primary keys alone.
#[cfg(test)]
pub(in crate::broker) const TEXTS: &[(&str, &str)] = &[(ORCHESTRATION, ""), (MEMBER, "")];

/// An orchestration that another program has ended.
#[derive(Debug, Clone)]
pub struct ImportedOrchestration {
    pub id: Uuid,
    /// `upgradeKyma` or `upgradeCluster`.
    pub kind: String,
    /// A final state.
    pub state: String,
    pub description: String,
    /// JSON.
    pub parameters: String,
    /// How many runtimes at a time.
    pub workers: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The upgrade of one runtime in such an orchestration.
#[derive(Debug, Clone)]
pub struct ImportedMember {
    pub operation: Uuid,
    pub orchestration: Uuid,
    /// Its place in the order.
    pub position: i64,
    pub instance: String,
    pub runtime_id: Uuid,
    pub shoot_name: String,
    pub global_account: String,
    pub subaccount: String,
    pub plan_id: String,
    pub plan_name: String,
    /// Its maintenance window.
    pub window: Option<(Timestamp, Timestamp)>,
    /// A final state.
    pub state: String,
    pub description: String,
    /// Whether the same instance was tried again later.
    pub superseded: bool,
    pub created_at: Timestamp,
    /// None for one that never began.
    pub started_at: Option<Timestamp>,
    pub ended_at: Timestamp,
}

impl BrokerStore {
    /// Stores orchestrations in one transaction; for each, whether it was not here.
    pub async fn import_orchestrations(
        &self,
        all: &[ImportedOrchestration],
    ) -> Result<Vec<bool>, Error> {
        let mut transaction = self.database().begin().await?;
        let mut stored = Vec::with_capacity(all.len());
        for one in all {
            let rows = on!(transaction.connection(), |connection| {
                sqlx::query(ORCHESTRATION)
                    .bind(one.id)
                    .bind(&one.kind)
                    .bind(&one.state)
                    .bind(&one.description)
                    .bind(&one.parameters)
                    .bind(Uuid::nil())
                    .bind(one.workers.max(1))
                    .bind(Moment::from(one.created_at))
                    .bind(Moment::from(one.updated_at))
                    .execute(connection)
                    .await
                    .map(|done| done.rows_affected())
            })?;
            stored.push(rows == 1);
        }
        transaction.commit().await?;
        Ok(stored)
    }

    /// Stores upgrades of imported orchestrations in one transaction; those whose operations are not here, and those that are here
    /// already, are passed over.
    pub async fn import_members(&self, all: &[ImportedMember]) -> Result<(), Error> {
        let mut transaction = self.database().begin().await?;
        for one in all {
            let (begin, end) = one.window.unzip();
            on!(transaction.connection(), |connection| {
                sqlx::query(MEMBER)
                    .bind(one.operation)
                    .bind(one.orchestration)
                    .bind(one.position)
                    .bind(&one.instance)
                    .bind(one.runtime_id)
                    .bind(&one.shoot_name)
                    .bind(&one.global_account)
                    .bind(&one.subaccount)
                    .bind(&one.plan_id)
                    .bind(&one.plan_name)
                    .bind(begin.map(Moment::from))
                    .bind(end.map(Moment::from))
                    .bind(&one.state)
                    .bind(&one.description)
                    .bind(one.superseded)
                    .bind(Moment::from(one.created_at))
                    .bind(one.started_at.map(Moment::from))
                    .bind(Moment::from(one.ended_at))
                    .bind(Uuid::nil())
                    .execute(connection)
                    .await
                    .map(drop)
            })?;
        }
        let instances: Vec<&str> = all.iter().map(|one| one.instance.as_str()).collect();
        on!(transaction.connection(), SETTLE, |text, connection| {
            sqlx::query(text).bind(list(&instances)).execute(connection).await.map(drop)
        })?;
        transaction.commit().await
    }
}
