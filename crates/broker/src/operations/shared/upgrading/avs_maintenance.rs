//! Puts the runtime's evaluations into maintenance mode: outages are expected while it is upgraded.
//!
//! What a reader would get wrong: the status to restore is written down before the first evaluation changes, and never again. A
//! repeated run reads the status that it has set itself.

use clients::{
    Kind,
    avs::{Avs, Status},
};
use store::broker::SuspendedEvaluation;

use super::{Upgrading, of};
use crate::{
    details,
    operations::{prelude::*, shared::require_client},
};

pub(crate) struct AvsMaintenance;

impl<O: Upgrading> Step<O> for AvsMaintenance {
    const NAME: &'static str = "AVS_Maintenance";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(10), mins(1)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        if cx.data.in_maintenance {
            return done();
        }
        let avs = require_client(cx.env.avs.as_ref(), System::Avs)?;
        let found = read(avs, &cx.data.details.avs).await?;
        if found.is_empty() {
            return done();
        }
        let kept = cx.env.store.suspend_evaluations(of(cx), &found).await;
        for evaluation in kept.map_err(|error| StepError::internal(&error))? {
            if status_before(&evaluation) != Status::Maintenance {
                avs.set_status(evaluation.id, Status::Maintenance).await?;
            }
        }
        cx.data.in_maintenance = true;
        done()
    }
}

/// The evaluations that are there, each with its status.
async fn read(avs: &Avs, known: &details::Avs) -> Result<Vec<SuspendedEvaluation>, StepError> {
    let there = |id: Option<i64>, deleted: bool| id.filter(|_| !deleted);
    let ids = [
        there(known.internal_id, known.internal_deleted),
        there(known.external_id, known.external_deleted),
    ];
    let mut found = Vec::new();
    for id in ids.into_iter().flatten() {
        match avs.get(id).await {
            Ok(evaluation) => found
                .push(SuspendedEvaluation { id, status: word(evaluation.status.to_restore())? }),
            // It was removed meanwhile.
            Err(error) if error.kind == Kind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

fn word(status: Status) -> Result<String, StepError> {
    let word = serde_json::to_value(status).map_err(|error| StepError::internal(&error))?;
    Ok(word.as_str().unwrap_or_default().to_owned())
}

/// The status that an evaluation had before.
pub(crate) fn status_before(evaluation: &SuspendedEvaluation) -> Status {
    let known = serde_json::from_value(evaluation.status.clone().into());
    known.unwrap_or(Status::Unknown).to_restore()
}
