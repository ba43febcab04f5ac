//! An orchestration is stored with its driver, and begins.

use domain::orchestration::{Kind, Parameters};
use engine::{Operation, storage::NewOperation};
use serde::Serialize;
use store::broker::NewOrchestration;
use uuid::Uuid;

use super::{Orchestrations, resolve::means_anybody, validate::validate};
use crate::{
    instances::Error,
    operations::orchestration::{Input, Orchestrating},
};

/// The lane of all drivers: they hold no worker while they wait.
const LANE: &str = "orchestrations";

/// An accepted orchestration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CreatedOrchestration {
    /// Its id.
    #[serde(rename = "orchestrationID")]
    pub orchestration_id: Uuid,
}

impl Orchestrations {
    /// Begins an orchestration. That nobody is meant is said at once, unless it begins later.
    pub async fn create(
        &self,
        kind: Kind,
        mut parameters: Parameters,
    ) -> Result<CreatedOrchestration, Error> {
        let now = self.0.broker.parts().clock.now();
        let matcher = validate(kind, &mut parameters, now).map_err(Error::Bad)?;
        self.check_version(&parameters).await?;
        let later = parameters.strategy.schedule_time > now;
        if !later {
            let anybody = means_anybody(&self.0, &matcher, &parameters, now).await?;
            anybody.map_err(|nobody| Error::Bad(format!("targets: {nobody}")))?;
        }
        let id = Uuid::now_v7();
        let new = NewOrchestration {
            id,
            kind: kind.as_str().into(),
            description: "queued for processing".into(),
            parameters: serde_json::to_string(&parameters)?,
            workers: parameters.strategy.parallel.workers,
        };
        self.store().create_orchestration(&new, driver(id, false)?).await?;
        Ok(CreatedOrchestration { orchestration_id: id })
    }
}

/// The operation that drives an orchestration.
pub(super) fn driver(orchestration: Uuid, retry: bool) -> Result<NewOperation, Error> {
    Ok(NewOperation {
        id: Uuid::now_v7(),
        instance: orchestration.to_string(),
        kind: Orchestrating::KIND.into(),
        data_version: Orchestrating::VERSION,
        lane: LANE.into(),
        input: serde_json::to_vec(&Input { orchestration, retry })?,
        data: b"{}".to_vec(),
        digest: None,
    })
}
