//! Acceptance: a runtime, its operation and the answer to its intent are written together or not at all.

use ::engine::storage::{Acceptance, NewOperation, OperationId, Pairs, Unfinished, Verdict};
use uuid::Uuid;

use super::{NewRuntime, ProvisionerStore, rows::seal_document};
use crate::{
    Error, Moment, RowAcceptance, Transaction,
    accepted::{self, Row, check_instance},
};

// Waits for transactions that drop or answer the same intent.
const ANSWER: &str = "
    UPDATE intents SET runtime_id = $2, operation_id = $3
    WHERE id = $1 AND tenant = $4 AND (runtime_id IS NULL OR runtime_id = $2)
      AND (operation_id IS NULL OR operation_id = $3)";

const STORE: &str = "
    INSERT INTO runtimes (id, tenant, subaccount, shoot, document, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT DO NOTHING";
const ID_IN_USE: &str = "SELECT count(*) FROM runtimes WHERE id = $1";
const STORED: &str = "SELECT count(*) FROM operations WHERE id = $1 AND instance = $2";

// $4: there is a document, or the runtime moves to the tenant $5. Without either it changes nothing, and
// still holds the row until the operation can be seen.
const TOUCH: &str = "
    UPDATE runtimes
    SET document = COALESCE($2, document),
        registered_tenant = COALESCE(registered_tenant, NULLIF(tenant, COALESCE($5, tenant))),
        tenant = COALESCE($5, tenant),
        revision = revision + CASE WHEN $4 THEN 1 ELSE 0 END
    WHERE id = $1 AND deleted_at IS NULL AND (NOT $4 OR revision = $3)";
// That the runtime moved stands with the entry of the operation that moved it.
const NOTE_MOVE: &str = "UPDATE runs SET reason = $2 WHERE operation_id = $1 AND seq = 1";
const IS_THERE: &str = "SELECT count(*) FROM runtimes WHERE id = $1 AND deleted_at IS NULL";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (ANSWER, ""),
    (STORE, ""),
    (ID_IN_USE, ""),
    (STORED, ""),
    (TOUCH, ""),
    (NOTE_MOVE, ""),
    (IS_THERE, ""),
];

/// The result of accepting a new runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewRuntimeResult {
    /// It is stored with its operation, now or by an earlier call with the same operation.
    Accepted,
    /// Nothing stored: another runtime has a Shoot of that name.
    NameTaken,
    /// Nothing stored: another order has, or had, that runtime id.
    IdTaken,
    /// Nothing stored: the intent was dropped, or another operation or runtime has answered it.
    IntentGone,
}

impl ProvisionerStore {
    /// Stores the runtime and its first operation, and answers the intent, in one transaction. Repeated
    /// with the same operation after a lost answer, it stores nothing more and is accepted again.
    pub async fn accept_new(
        &self,
        runtime: &NewRuntime,
        intent: Option<Uuid>,
        operation: NewOperation,
    ) -> Result<NewRuntimeResult, Error> {
        check_instance(&runtime.id.to_string(), "runtime", &operation)?;
        let id = operation.id;
        let mut transaction = self.database().begin().await?;
        let answer = self.store_new(&mut transaction, runtime, intent, operation).await?;
        if answer == NewRuntimeResult::Accepted {
            transaction.commit().await?;
            return Ok(answer);
        }
        transaction.rollback().await?;
        let stored: i64 = on!(self.database().reader(), |pool| {
            let instance = runtime.id.to_string();
            sqlx::query_scalar(STORED).bind(id).bind(instance).fetch_one(pool).await
        })?;
        Ok(if stored == 1 { NewRuntimeResult::Accepted } else { answer })
    }

    async fn store_new(
        &self,
        transaction: &mut Transaction,
        runtime: &NewRuntime,
        intent: Option<Uuid>,
        operation: NewOperation,
    ) -> Result<NewRuntimeResult, Error> {
        if let Some(intent) = intent
            && !answer(transaction, intent, runtime, operation.id).await?
        {
            return Ok(NewRuntimeResult::IntentGone);
        }
        if !self.store_runtime(transaction, runtime).await? {
            let in_use: i64 = on!(transaction.connection(), |connection| {
                sqlx::query_scalar(ID_IN_USE).bind(runtime.id).fetch_one(connection).await
            })?;
            return Ok(if in_use > 0 {
                NewRuntimeResult::IdTaken
            } else {
                NewRuntimeResult::NameTaken
            });
        }
        let id = operation.id;
        match self.engine.accept_in(transaction, operation, &alone).await? {
            Acceptance::Started => Ok(NewRuntimeResult::Accepted),
            // Operations without a runtime: nobody here has stored them.
            Acceptance::Queued | Acceptance::Refused(_) => Ok(NewRuntimeResult::IdTaken),
            Acceptance::Same(_) => {
                Err(Error::Refused(format!("operation {id} belongs to another runtime")))
            }
        }
    }

    /// Whether it was stored: its id or its name may be in use.
    pub(super) async fn store_runtime(
        &self,
        transaction: &mut Transaction,
        runtime: &NewRuntime,
    ) -> Result<bool, Error> {
        let sealed = seal_document(&self.sealer, runtime.id, &runtime.document);
        let now = Moment::from(self.clock.now());
        let stored = on!(transaction.connection(), |connection| {
            sqlx::query(STORE)
                .bind(runtime.id)
                .bind(&runtime.tenant)
                .bind(&runtime.subaccount)
                .bind(&runtime.shoot)
                .bind(sealed)
                .bind(now)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        Ok(stored == 1)
    }

    /// Accepts an operation on a runtime in one transaction. A `document` replaces the stored one with
    /// it, if `revision` is still current; without a document, `revision` is not looked at. What answers
    /// a repetition answers it whatever became of the runtime since.
    pub async fn accept(
        &self,
        runtime: Uuid,
        revision: i64,
        document: Option<&[u8]>,
        operation: NewOperation,
        pairs: &Pairs<'_>,
    ) -> Result<RowAcceptance, Error> {
        let touched = TargetRuntime { store: self, runtime, revision, document, moves: None };
        touched.accept(operation, pairs).await
    }

    /// The same for an operation that moves its runtime to another tenant, if `revision` is still current. Its
    /// first journal entry says so.
    pub async fn accept_moving(
        &self,
        runtime: Uuid,
        revision: i64,
        document: Option<&[u8]>,
        moves: Move<'_>,
        operation: NewOperation,
        pairs: &Pairs<'_>,
    ) -> Result<RowAcceptance, Error> {
        let moves = Some((operation.id, moves));
        let touched = TargetRuntime { store: self, runtime, revision, document, moves };
        touched.accept(operation, pairs).await
    }
}

/// From one tenant to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move<'a> {
    /// The former tenant.
    pub from: &'a str,
    /// The new tenant.
    pub to: &'a str,
}

/// A runtime that an operation is for.
struct TargetRuntime<'a> {
    store: &'a ProvisionerStore,
    runtime: Uuid,
    revision: i64,
    document: Option<&'a [u8]>,
    /// The operation that moves it, and between whom.
    moves: Option<(OperationId, Move<'a>)>,
}

impl TargetRuntime<'_> {
    async fn accept(
        &self,
        operation: NewOperation,
        pairs: &Pairs<'_>,
    ) -> Result<RowAcceptance, Error> {
        check_instance(&self.runtime.to_string(), "runtime", &operation)?;
        accepted::accept(&self.store.engine, self, operation, pairs).await
    }
}

impl Row for TargetRuntime<'_> {
    async fn touch(&self, transaction: &mut Transaction) -> Result<bool, Error> {
        let sealer = &self.store.sealer;
        let sealed = self.document.map(|document| seal_document(sealer, self.runtime, document));
        let touched = on!(transaction.connection(), |connection| {
            sqlx::query(TOUCH)
                .bind(self.runtime)
                .bind(sealed)
                .bind(self.revision)
                .bind(self.document.is_some() || self.moves.is_some())
                .bind(self.moves.map(|(_, moves)| moves.to))
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        if touched == 1
            && let Some((operation, Move { from, to })) = self.moves
        {
            let reason = format!("the runtime moved from tenant {from} to tenant {to}");
            on!(transaction.connection(), |connection| {
                sqlx::query(NOTE_MOVE)
                    .bind(operation)
                    .bind(reason)
                    .execute(connection)
                    .await
                    .map(drop)
            })?;
        }
        Ok(touched == 1)
    }

    async fn is_there(&self) -> Result<bool, Error> {
        let there: i64 = on!(self.store.database().reader(), |pool| {
            sqlx::query_scalar(IS_THERE).bind(self.runtime).fetch_one(pool).await
        })?;
        Ok(there > 0)
    }
}

/// Whether the intent was there to be answered.
async fn answer(
    transaction: &mut Transaction,
    intent: Uuid,
    runtime: &NewRuntime,
    operation: OperationId,
) -> Result<bool, Error> {
    let answered = on!(transaction.connection(), |connection| {
        sqlx::query(ANSWER)
            .bind(intent)
            .bind(runtime.id)
            .bind(operation)
            .bind(&runtime.tenant)
            .execute(connection)
            .await
            .map(|done| done.rows_affected())
    })?;
    Ok(answered == 1)
}

/// A new runtime's operation is the first one.
fn alone(unfinished: &[Unfinished]) -> Verdict {
    unfinished.first().map_or(Verdict::Queue, |other| Verdict::Refuse(other.id))
}
