//! A change of an order that no operation carries: only what the platform says about the instance changes.

use super::{
    BrokerStore,
    rows::{can_be, seal_order},
};
use crate::{Error, Moment};

// $5: the global account, where it moves.
const CHANGE: &str = "
    UPDATE instances
    SET ordered = $2,
        global_account = COALESCE($5, global_account),
        revision = revision + 1,
        updated_at = $4
    WHERE id = $1 AND revision = $3";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(CHANGE, "")];

impl BrokerStore {
    /// Replaces the order of an instance, and its global account where one is given, if `revision` is still current. Says
    /// whether it was.
    pub async fn change_order(
        &self,
        instance: &str,
        revision: i64,
        order: &[u8],
        global_account: Option<&str>,
    ) -> Result<bool, Error> {
        if !can_be(instance) {
            return Ok(false);
        }
        let sealed = seal_order(&self.sealer, instance, order);
        let now = Moment::from(self.clock.now());
        let mut transaction = self.database().begin().await?;
        let changed = on!(transaction.connection(), |connection| {
            sqlx::query(CHANGE)
                .bind(instance)
                .bind(sealed)
                .bind(revision)
                .bind(now)
                .bind(global_account)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        transaction.commit().await?;
        Ok(changed == 1)
    }
}
