//! Claiming: due operations are handed to a replica, fairly between lanes.

mod postgres;
mod sqlite;

use ::engine::{
    PlantedBug,
    storage::{ClaimRequest, ClaimResult, HeldOperation},
};
use jiff::Timestamp;
use tracing::error;

use super::{
    EngineStore,
    rows::{self, OperationRow},
};
use crate::{Error, Moment, database::Backend};

/// More lanes than this take turns.
const MOST_LANES: i64 = 64;
/// Up to here, the lanes are found by reading what is due; beyond, by stepping from lane to lane.
const FEW: i64 = 256;

/// The rows that the statements of one database claimed.
#[derive(Default)]
struct Grant {
    given: Vec<ClaimedOperation>,
    last_lane: Option<String>,
    next_due: Option<Moment>,
}

/// One operation that now belongs to the asker.
struct ClaimedOperation {
    operation: OperationRow,
    input: Vec<u8>,
    data: Vec<u8>,
}

/// Puts an operation back that its new owner cannot even read, so that it is tried again later.
const UNREADABLE_POSTGRES: &str = "
    UPDATE operations
    SET held = false, note = $5,
        due_at = COALESCE($1, statement_timestamp()) + interval '1 minute'
    WHERE id = $2 AND owner = $3 AND epoch = $4 AND held";
const UNREADABLE_SQLITE: &str = "
    UPDATE operations SET held = false, note = $5, due_at = $1 + 60000000
    WHERE id = $2 AND owner = $3 AND epoch = $4 AND held";

impl EngineStore {
    pub(super) async fn claim_due(&self, ask: &ClaimRequest<'_>) -> Result<ClaimResult, Error> {
        if ask.room == 0 {
            return Ok(ClaimResult {
                last_lane: ask.after_lane.to_owned(),
                ..ClaimResult::default()
            });
        }
        let found = match self.database.writer() {
            Backend::Postgres(pool) => self.grant_on_postgres(pool, ask).await?,
            Backend::Sqlite(_) => self.grant_on_sqlite(ask).await?,
        };
        let mut operations = Vec::with_capacity(found.given.len());
        for given in found.given {
            let (id, epoch) = (given.operation.id, given.operation.epoch);
            match self.opened(given) {
                Ok(held) => operations.push(held),
                Err(problem) => {
                    error!(operation.id = %id, "{}", base::failure::chain(&problem));
                    self.put_back(ask, id, epoch, &problem).await?;
                }
            }
        }
        operations.sort_by_key(|held| (held.due_at, held.id));
        Ok(ClaimResult {
            next_due: found.next_due.filter(|_| operations.is_empty()).map(Timestamp::from),
            last_lane: found.last_lane.unwrap_or_else(|| ask.after_lane.to_owned()),
            operations,
        })
    }

    fn opened(&self, given: ClaimedOperation) -> Result<HeldOperation, Error> {
        let id = given.operation.id;
        let input = rows::open_input(&self.sealer, id, &given.input)?;
        let data = rows::open_data(&self.sealer, id, &given.data)?;
        given.operation.into_held(input, data)
    }

    async fn put_back(
        &self,
        ask: &ClaimRequest<'_>,
        id: uuid::Uuid,
        epoch: i64,
        problem: &Error,
    ) -> Result<(), Error> {
        let text = crate::sql::Text { postgres: UNREADABLE_POSTGRES, sqlite: UNREADABLE_SQLITE };
        on!(self.database.writer(), text, |text, pool| {
            sqlx::query(text)
                .bind(self.now())
                .bind(id)
                .bind(ask.replica)
                .bind(epoch)
                .bind(problem.to_string())
                .execute(pool)
                .await
                .map(drop)
        })?;
        Ok(())
    }

    fn claims_anything(&self) -> bool {
        self.planted.is(PlantedBug::ClaimsAnything)
    }

    fn records_takeovers(&self) -> bool {
        !self.planted.is(PlantedBug::TakeoverUnrecorded)
    }
}
