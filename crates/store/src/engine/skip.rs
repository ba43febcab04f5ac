//! Asking that a step does not run any more.
//!
//! What a reader would get wrong: the request is not journaled here. That the step was passed over is in the journal, written by
//! the owner at the next step boundary; who asked for it is in the audit.

use ::engine::storage::{OperationId, Skip, Wake};

use super::{EngineStore, rows::storable};
use crate::{Error, sql::sql};

// What sleeps is woken; what is held meets it when it is claimed next.
sql!(REQUEST = "
    UPDATE operations
    SET skip_stage = $3, skip_reason = $5,
        skip_step = CASE WHEN skip_stage = $3 AND skip_step <> $4
                         THEN skip_step || ',' || $4 ELSE $4 END, updated_at = " now ",
        due_at = CASE WHEN due_at > " now " AND NOT held THEN " now " ELSE due_at END
    WHERE id = $2 AND ended_at IS NULL AND cancel_state IS NULL AND stage = $3");

impl EngineStore {
    pub(super) async fn request_skip_of(
        &self,
        id: OperationId,
        skip: &Skip,
    ) -> Result<bool, Error> {
        let now = self.now();
        let requested = on!(self.database.writer(), REQUEST, |text, pool| {
            sqlx::query(text)
                .bind(now)
                .bind(id)
                .bind(&skip.stage)
                .bind(&skip.step)
                .bind(storable(&skip.reason))
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        if requested == 1 {
            self.wakes.ring(Wake::Due);
            self.wakes.changed([(id, None)]);
        }
        Ok(requested == 1)
    }
}
