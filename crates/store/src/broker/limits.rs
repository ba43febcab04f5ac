//! How many instances one account may have, counted where nobody else can add one meanwhile.
//!
//! Every row counts, also those of instances that failed, expired, or were removed with something left
//! over: what is left over may be a cluster.

use super::{BrokerStore, Instance, NewInstance};
use crate::{
    Error, Transaction,
    database::Backend,
    sql::{Text, list, sql},
};

// $2 keeps the locks of accounts, subaccounts and bindings apart, and both from the engine's.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, $2))";

sql!(IN_ACCOUNT = "
    SELECT count(*) FROM (
        SELECT 1 FROM instances
        WHERE global_account = $1 AND (" (unset "$2") " OR " (any "plan_id" "$2") ") LIMIT $3) AS counted");
sql!(IN_SUBACCOUNT = "
    SELECT count(*) FROM (
        SELECT 1 FROM instances
        WHERE subaccount = $1 AND (" (unset "$2") " OR " (any "plan_id" "$2") ") LIMIT $3) AS counted");

sql!(OTHERS_IN_ACCOUNT = "
    SELECT count(*) FROM (
        SELECT 1 FROM instances
        WHERE global_account = $1 AND id <> $4 AND (" (unset "$2") " OR " (any "plan_id" "$2") ") LIMIT $3) AS counted");
sql!(OTHERS_IN_SUBACCOUNT = "
    SELECT count(*) FROM (
        SELECT 1 FROM instances
        WHERE subaccount = $1 AND id <> $4 AND (" (unset "$2") " OR " (any "plan_id" "$2") ") LIMIT $3) AS counted");

/// Every statement on tables, with the index it goes by.
#[cfg(test)]
pub(super) const TEXTS: &[(Text, &str)] = &[
    (IN_ACCOUNT, "instances_of_account"),
    (IN_SUBACCOUNT, "instances_of_subaccount"),
    (OTHERS_IN_ACCOUNT, "instances_of_account"),
    (OTHERS_IN_SUBACCOUNT, "instances_of_subaccount"),
];

/// How many instances there may be, the new one included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceLimits {
    /// The limit of one global account.
    pub per_global_account: Option<Limit>,
    /// The limit of one subaccount.
    pub per_subaccount: Option<Limit>,
}

/// How many instances of some plans there may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The ids of the plans that count; `None`: all of them.
    pub plans: Option<Vec<String>>,
    /// How many at most.
    pub most: u32,
}

impl Limit {
    /// At most this many instances, of whatever plan.
    pub fn of_all(most: u32) -> Self {
        Self { plans: None, most }
    }
}

/// Which limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReachedLimit {
    /// That of the global account.
    GlobalAccount,
    /// That of the subaccount.
    Subaccount,
}

impl BrokerStore {
    /// The limit that an instance would go past if it changed to a plan with these limits. Orders that come in between are not
    /// counted: unlike a new instance, a changed one is there already.
    pub async fn reached_by_change(
        &self,
        instance: &Instance,
        limits: &InstanceLimits,
    ) -> Result<Option<ReachedLimit>, Error> {
        let counts = [
            (
                &limits.per_global_account,
                OTHERS_IN_ACCOUNT,
                &instance.global_account,
                ReachedLimit::GlobalAccount,
            ),
            (
                &limits.per_subaccount,
                OTHERS_IN_SUBACCOUNT,
                &instance.subaccount,
                ReachedLimit::Subaccount,
            ),
        ];
        for (limit, text, name, reached) in counts {
            let Some(limit) = limit else { continue };
            let plans = limit.plans.as_deref().map(list);
            let others: i64 = on!(self.database().reader(), text, |text, pool| {
                sqlx::query_scalar(text)
                    .bind(name)
                    .bind(plans)
                    .bind(i64::from(limit.most))
                    .bind(&instance.id)
                    .fetch_one(pool)
                    .await
            })?;
            if others >= i64::from(limit.most) {
                return Ok(Some(reached));
            }
        }
        Ok(None)
    }
}

/// Keeps others from counting until the transaction ends. To be called before it has touched anything;
/// SQLite has one writer anyhow.
pub(super) async fn lock(
    transaction: &mut Transaction,
    new: &NewInstance,
    limits: &InstanceLimits,
) -> Result<(), Error> {
    let Backend::Postgres(connection) = transaction.connection() else { return Ok(()) };
    let locks = [
        (&limits.per_global_account, &new.global_account, 1_i64),
        (&limits.per_subaccount, &new.subaccount, 2),
    ];
    for (limit, name, apart) in locks {
        if limit.is_some() {
            sqlx::query(LOCK).bind(name).bind(apart).execute(&mut *connection).await?;
        }
    }
    Ok(())
}

/// The limit that the new instance, stored already, has gone past.
pub(super) async fn reached(
    transaction: &mut Transaction,
    new: &NewInstance,
    limits: &InstanceLimits,
) -> Result<Option<ReachedLimit>, Error> {
    let counts = [
        (&limits.per_global_account, IN_ACCOUNT, &new.global_account, ReachedLimit::GlobalAccount),
        (&limits.per_subaccount, IN_SUBACCOUNT, &new.subaccount, ReachedLimit::Subaccount),
    ];
    for (limit, text, name, reached) in counts {
        if let Some(limit) = limit
            && count(transaction, text, name, limit).await? > i64::from(limit.most)
        {
            return Ok(Some(reached));
        }
    }
    Ok(None)
}

/// How many there are, and never more than one too many.
async fn count(
    transaction: &mut Transaction,
    text: Text,
    name: &str,
    limit: &Limit,
) -> Result<i64, Error> {
    let plans = limit.plans.as_deref().map(list);
    let count = on!(transaction.connection(), text, |text, connection| {
        sqlx::query_scalar(text)
            .bind(name)
            .bind(plans)
            .bind(i64::from(limit.most) + 1)
            .fetch_one(connection)
            .await
    })?;
    Ok(count)
}
