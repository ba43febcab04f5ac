//! Acceptance of an operation on an instance, together with the order it was made for.

use ::engine::storage::{Acceptance, NewOperation, Pairs};

use super::{
    BrokerStore,
    rows::{can_be, seal_order},
};
use crate::{Error, Moment, Transaction};

// $5: there is an order. Without one it changes nothing, and still holds the row until the operation can
// be seen.
const TOUCH: &str = "
    UPDATE instances
    SET ordered = COALESCE($2, ordered),
        revision = revision + CASE WHEN $5 THEN 1 ELSE 0 END,
        updated_at = CASE WHEN $5 THEN $4 ELSE updated_at END
    WHERE id = $1 AND (NOT $5 OR revision = $3)";
const IS_THERE: &str = "SELECT count(*) FROM instances WHERE id = $1";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(TOUCH, ""), (IS_THERE, "")];

/// What became of an operation on an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// The table of pairs has decided.
    Yes(Acceptance),
    /// Nothing stored: the order was made from a revision that is not the current one any more.
    Changed,
    /// Nothing stored: the instance is removed or unknown.
    Gone,
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
    ) -> Result<Accepted, Error> {
        check_instance(instance, &operation)?;
        if !can_be(instance) {
            return Ok(Accepted::Gone);
        }
        let mut transaction = self.database().begin().await?;
        let acceptance = self.engine.accept_in(&mut transaction, operation, pairs).await?;
        let lands = match acceptance {
            Acceptance::Started | Acceptance::Queued => {
                self.touch(&mut transaction, instance, revision, order).await?
            }
            Acceptance::Same(_) | Acceptance::Refused(_) => false,
        };
        if lands {
            transaction.commit().await?;
            return Ok(Accepted::Yes(acceptance));
        }
        transaction.rollback().await?;
        if matches!(acceptance, Acceptance::Same(_)) {
            return Ok(Accepted::Yes(acceptance));
        }
        let there: i64 = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(IS_THERE).bind(instance).fetch_one(pool).await
        })?;
        Ok(match acceptance {
            _ if there == 0 => Accepted::Gone,
            Acceptance::Refused(_) => Accepted::Yes(acceptance),
            _ => Accepted::Changed,
        })
    }

    /// Whether the instance is still what the operation was asked for.
    async fn touch(
        &self,
        transaction: &mut Transaction,
        instance: &str,
        revision: i64,
        order: Option<&[u8]>,
    ) -> Result<bool, Error> {
        let sealed = order.map(|order| seal_order(&self.sealer, instance, order));
        let now = Moment::from(self.clock.now());
        let touched = on!(transaction.connection(), |connection| {
            sqlx::query(TOUCH)
                .bind(instance)
                .bind(sealed)
                .bind(revision)
                .bind(now)
                .bind(order.is_some())
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        Ok(touched == 1)
    }
}

/// Operations find their instance by the id they name.
pub(super) fn check_instance(id: &str, operation: &NewOperation) -> Result<(), Error> {
    if operation.instance == id {
        return Ok(());
    }
    let NewOperation { id: operation, instance, .. } = operation;
    Err(Error::Refused(format!(
        "operation {operation} is for \"{instance}\", not for instance \"{id}\""
    )))
}
