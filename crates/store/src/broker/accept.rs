//! Acceptance of an operation on an instance, together with the order it was made for.

use ::engine::storage::{NewOperation, Pairs};

use super::{
    BrokerStore,
    rows::{can_be, seal_order},
};
use crate::{
    Error, Moment, RowAcceptance, Transaction,
    accepted::{self, Row, check_instance},
};

// $5: there is an order. $6: it expires. $7: the global account, where it moves. Without any of them it changes nothing, and still
// holds the row until the operation can be seen.
const TOUCH: &str = "
    UPDATE instances
    SET ordered = COALESCE($2, ordered),
        global_account = COALESCE($7, global_account),
        expired_at = CASE WHEN $6 THEN COALESCE(expired_at, $4) ELSE expired_at END,
        revision = revision + CASE WHEN $5 OR $6 THEN 1 ELSE 0 END,
        updated_at = CASE WHEN $5 OR $6 THEN $4 ELSE updated_at END
    WHERE id = $1 AND (NOT $5 OR revision = $3)";
const EXPIRE: &str = "
    UPDATE instances
    SET expired_at = COALESCE(expired_at, $2), revision = revision + 1, updated_at = $2
    WHERE id = $1";
const IS_THERE: &str = "SELECT count(*) FROM instances WHERE id = $1";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(TOUCH, ""), (EXPIRE, ""), (IS_THERE, "")];

/// What changes of an instance with the acceptance of an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AcceptedChange<'a> {
    /// The order that replaces the stored one, if the revision is still current.
    pub order: Option<&'a [u8]>,
    /// The global account that the order moves the instance to.
    pub global_account: Option<&'a str>,
    /// Whether it expires. When it expired is kept once it is stored.
    pub expires: bool,
}

impl BrokerStore {
    /// Accepts an operation on an instance in one transaction, also when something of it is only left over.
    /// An `order` replaces the stored one with it, if `revision` is still current; without an order,
    /// `revision` is not looked at. What answers a repetition answers it whatever became of the
    /// instance since.
    pub async fn accept(
        &self,
        instance: &str,
        revision: i64,
        operation: NewOperation,
        pairs: &Pairs<'_>,
        order: Option<&[u8]>,
    ) -> Result<RowAcceptance, Error> {
        let change = AcceptedChange { order, ..AcceptedChange::default() };
        self.accept_changing(instance, revision, operation, pairs, change).await
    }

    /// The same with more that changes: all of it lands with the operation, or nothing.
    pub async fn accept_changing(
        &self,
        instance: &str,
        revision: i64,
        operation: NewOperation,
        pairs: &Pairs<'_>,
        change: AcceptedChange<'_>,
    ) -> Result<RowAcceptance, Error> {
        check_instance(instance, "instance", &operation)?;
        if !can_be(instance) {
            return Ok(RowAcceptance::Gone);
        }
        let row = TargetInstance { store: self, instance, revision, change };
        accepted::accept(&self.engine, &row, operation, pairs).await
    }

    /// Stores that an instance has expired that needs no operation for it. Whether it is there.
    pub async fn mark_expired(&self, instance: &str) -> Result<bool, Error> {
        let now = Moment::from(self.clock.now());
        let marked = on!(self.database().writer(), |pool| {
            sqlx::query(EXPIRE)
                .bind(instance)
                .bind(now)
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok(marked == 1)
    }
}

/// An instance that an operation is for.
struct TargetInstance<'a> {
    store: &'a BrokerStore,
    instance: &'a str,
    revision: i64,
    change: AcceptedChange<'a>,
}

impl Row for TargetInstance<'_> {
    async fn touch(&self, transaction: &mut Transaction) -> Result<bool, Error> {
        let BrokerStore { sealer, clock, .. } = self.store;
        let AcceptedChange { order, global_account, expires } = self.change;
        let sealed = order.map(|order| seal_order(sealer, self.instance, order));
        let now = Moment::from(clock.now());
        let touched = on!(transaction.connection(), |connection| {
            sqlx::query(TOUCH)
                .bind(self.instance)
                .bind(sealed)
                .bind(self.revision)
                .bind(now)
                .bind(order.is_some())
                .bind(expires)
                .bind(global_account)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        Ok(touched == 1)
    }

    async fn is_there(&self) -> Result<bool, Error> {
        let there: i64 = on!(self.store.database().reader(), |pool| {
            sqlx::query_scalar(IS_THERE).bind(self.instance).fetch_one(pool).await
        })?;
        Ok(there > 0)
    }
}
