//! Acceptance of an order: an instance and its first operation are written together, within the limits,
//! or not at all.

use ::engine::storage::{Acceptance, NewOperation, Unfinished, Verdict};
use uuid::Uuid;

use super::{
    BrokerStore, InstanceLimits, NewInstance, ReachedLimit, archive,
    instances::LAST_OPERATION,
    limits,
    rows::{seal_details, seal_order},
};
use crate::{Error, Moment, Transaction, accepted::check_instance};

/// Keeps these digests apart from others.
pub(super) const LABEL: &str = "instance";

// Waits for transactions that store or remove the same one.
const STORE: &str = "
    INSERT INTO instances (id, global_account, subaccount, service_id, plan_id, plan_name, provider,
                           region, platform_region, shoot_name, dashboard_url, ordered, details,
                           digest, accepted_by, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16)
    ON CONFLICT DO NOTHING";
const FOUND: &str = "SELECT digest, accepted_by, deleted_at FROM instances WHERE id = $1";
const STORED: &str = "SELECT count(*) FROM operations WHERE id = $1 AND instance = $2";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(STORE, ""), (FOUND, ""), (STORED, "")];

/// The result of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptedInstance {
    /// It is stored with its operation, now or by an earlier call with the same operation.
    Accepted,
    /// Nothing stored: the same request was accepted before, with this operation.
    Same {
        /// The operation that was accepted with the instance.
        operation: Uuid,
    },
    /// Nothing stored: another request was accepted under that id.
    Conflict {
        /// The operation that was accepted with the instance.
        operation: Uuid,
    },
    /// Nothing stored: the id belonged to an instance that is removed, perhaps with something left over.
    Reused {
        /// That instance's last operation.
        operation: Uuid,
    },
    /// Nothing stored: the account has as many as it may have.
    Limit(ReachedLimit),
}

#[derive(sqlx_macros::FromRow)]
struct StoredInstance {
    digest: Vec<u8>,
    accepted_by: Uuid,
    deleted_at: Option<Moment>,
}

impl BrokerStore {
    /// Stores an instance and its first operation in one transaction, if the limits allow. A repetition is
    /// answered whatever the limits say. `digest` stands for the request: the same bytes for the same
    /// request, at any time; only a keyed digest of them is kept. Repeated with the same operation after a
    /// lost answer, it stores nothing more and is accepted again.
    pub async fn accept_new(
        &self,
        new: &NewInstance,
        digest: &[u8],
        operation: NewOperation,
        limits: &InstanceLimits,
    ) -> Result<AcceptedInstance, Error> {
        new.check()?;
        check_instance(&new.id, "instance", &operation)?;
        let id = operation.id;
        let mut transaction = self.database().begin().await?;
        limits::lock(&mut transaction, new, limits).await?;
        let answer = self.store_new(&mut transaction, new, digest, operation, limits).await?;
        if answer == AcceptedInstance::Accepted {
            transaction.commit().await?;
            return Ok(answer);
        }
        transaction.rollback().await?;
        let stored: i64 = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(STORED).bind(id).bind(&new.id).fetch_one(pool).await
        })?;
        Ok(if stored == 1 { AcceptedInstance::Accepted } else { answer })
    }

    /// What [`Self::accept_new`] would answer right now. Nothing is stored, and nobody is kept waiting.
    pub async fn would_accept(
        &self,
        new: &NewInstance,
        digest: &[u8],
        limits: &InstanceLimits,
    ) -> Result<AcceptedInstance, Error> {
        new.check()?;
        let mut transaction = self.database().begin().await?;
        let obstacle = self.obstacle(&mut transaction, new, digest, Uuid::nil(), limits).await?;
        transaction.rollback().await?;
        Ok(obstacle.unwrap_or(AcceptedInstance::Accepted))
    }

    async fn store_new(
        &self,
        transaction: &mut Transaction,
        new: &NewInstance,
        digest: &[u8],
        operation: NewOperation,
        limits: &InstanceLimits,
    ) -> Result<AcceptedInstance, Error> {
        let id = operation.id;
        if let Some(obstacle) = self.obstacle(transaction, new, digest, id, limits).await? {
            return Ok(obstacle);
        }
        match self.engine.accept_in(transaction, operation, &alone).await? {
            Acceptance::Started | Acceptance::Queued => Ok(AcceptedInstance::Accepted),
            // It came in between, of an instance that nobody has stored here.
            Acceptance::Refused(operation) => Ok(AcceptedInstance::Reused { operation }),
            Acceptance::Same(_) => {
                Err(Error::Refused(format!("operation {id} belongs to another instance")))
            }
        }
    }

    /// Stores the instance, unless something is in its way.
    async fn obstacle(
        &self,
        transaction: &mut Transaction,
        new: &NewInstance,
        digest: &[u8],
        operation: Uuid,
        limits: &InstanceLimits,
    ) -> Result<Option<AcceptedInstance>, Error> {
        let stored = self.store_instance(transaction, new, digest, operation).await?;
        let found = if stored { None } else { found(transaction, &new.id).await? };
        if let Some(StoredInstance { digest: known, accepted_by: operation, deleted_at: None }) =
            found
        {
            let same = self.sealer.digest_matches(LABEL, digest, &known);
            return Ok(Some(if same {
                AcceptedInstance::Same { operation }
            } else {
                AcceptedInstance::Conflict { operation }
            }));
        }
        let last = last_operation(transaction, &new.id).await?;
        if let Some(operation) = last.or(found.map(|found| found.accepted_by)) {
            return Ok(Some(AcceptedInstance::Reused { operation }));
        }
        if !stored {
            // What was in the way is gone without a trace: another try may find the id free.
            return Err(Error::Contended);
        }
        let reached = limits::reached(transaction, new, limits).await?;
        Ok(reached.map(AcceptedInstance::Limit))
    }

    /// Whether it was stored: its id may be in use.
    pub(super) async fn store_instance(
        &self,
        transaction: &mut Transaction,
        new: &NewInstance,
        digest: &[u8],
        operation: Uuid,
    ) -> Result<bool, Error> {
        let ordered = seal_order(&self.sealer, &new.id, &new.order);
        let details = new.details.as_deref();
        let details = details.map(|details| seal_details(&self.sealer, &new.id, details));
        let digest = self.sealer.digest(LABEL, digest);
        let now = Moment::from(self.clock.now());
        let stored = on!(transaction.connection(), |connection| {
            sqlx::query(STORE)
                .bind(&new.id)
                .bind(&new.global_account)
                .bind(&new.subaccount)
                .bind(&new.service_id)
                .bind(&new.plan_id)
                .bind(&new.plan_name)
                .bind(&new.provider)
                .bind(&new.region)
                .bind(&new.platform_region)
                .bind(&new.shoot_name)
                .bind(&new.dashboard_url)
                .bind(ordered)
                .bind(details)
                .bind(digest)
                .bind(operation)
                .bind(now)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        Ok(stored == 1)
    }
}

/// The row with the id. `None` when it was removed in between.
async fn found(transaction: &mut Transaction, id: &str) -> Result<Option<StoredInstance>, Error> {
    let found = on!(transaction.connection(), |connection| {
        sqlx::query_as(FOUND).bind(id).fetch_optional(connection).await
    })?;
    Ok(found)
}

/// The newest operation of an instance, as this transaction sees it. Of an archived one, its last: looked for afterwards, because
/// operations go in the transaction that archives them.
async fn last_operation(transaction: &mut Transaction, id: &str) -> Result<Option<Uuid>, Error> {
    for text in [LAST_OPERATION, archive::LAST_OPERATION] {
        let last: Option<Uuid> = on!(transaction.connection(), |connection| {
            sqlx::query_scalar(text).bind(id).fetch_optional(connection).await
        })?;
        if last.is_some() {
            return Ok(last);
        }
    }
    Ok(None)
}

/// A new instance's operation is the first one.
fn alone(unfinished: &[Unfinished]) -> Verdict {
    unfinished.first().map_or(Verdict::Queue, |other| Verdict::Refuse(other.id))
}
