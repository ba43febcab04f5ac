//! A retry is a new operation that continues a final one.

use ::engine::{OperationId, storage::NewOperation};

use super::{EngineStore, accept::Candidate};
use crate::Error;

const DIGEST: &str = "SELECT digest FROM operations WHERE id = $1";

impl EngineStore {
    /// A new operation with the data of the old one, in which only what was not completed runs.
    pub(super) async fn continuation(
        &self,
        old: OperationId,
        new: OperationId,
    ) -> Result<Candidate, Error> {
        // No lock: a final operation does not change any more.
        let Some(old) = self.find(old).await? else {
            return Err(Error::Refused(format!("there is no operation {old} to continue")));
        };
        if !old.state.is_final() {
            return Err(Error::Refused(format!("operation {} has not ended", old.id)));
        }
        // What it was asked for is asked for again.
        let digest = on!(self.database.reader(), |pool| {
            sqlx::query_scalar(DIGEST).bind(old.id).fetch_one(pool).await
        })?;
        let reopened =
            |stage: &str| old.incomplete.iter().any(|step| step.split('/').next() == Some(stage));
        let closed = old.closed.iter().filter(|stage| !reopened(stage)).cloned().collect();
        Ok(Candidate {
            root: old.root,
            closed,
            new: NewOperation {
                id: new,
                instance: old.instance,
                kind: old.kind,
                data_version: old.data_version,
                lane: old.lane,
                input: old.input,
                data: old.data,
                digest,
            },
        })
    }
}
