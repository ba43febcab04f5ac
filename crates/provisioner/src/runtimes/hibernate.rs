//! Letting a runtime sleep.

use clients::gardener::Shoot;

use super::{
    Caller, Provisioner,
    begin::{OperationStart, TRIES, UnfinishedPolicy, contended},
};
use crate::{
    Error,
    operations::{Versions, hibernation::Hibernation},
    status::{OperationStatus, OperationType},
};

impl Provisioner {
    /// Lets a runtime sleep.
    pub async fn hibernate(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<OperationStatus, Error> {
        for _ in 0..TRIES {
            let owned = self.owned(caller, runtime).await?;
            let mark = caller.mark("hibernateRuntime", owned.row.id, &())?;
            if let Some(status) = self.answered(&mark).await? {
                return Ok(status);
            }
            self.check_changeable(&owned.row).await?;
            if let Some(shoot) = self.changeable_shoot(&owned.row).await?
                && let Some((false, why)) = hibernation_possible(&shoot)
            {
                return Err(Error::bad(format!(
                    "Failed to hibernate Cluster: cannot hibernate cluster: {why}"
                )));
            }
            let beginning = OperationStart {
                known_as: OperationType::Hibernate,
                document: owned.document.clone(),
                at_once: false,
                kyma: false,
                shoot: true,
                first_message: "Starting ".into(),
                requested: Versions::default(),
                mark,
                others: UnfinishedPolicy::Stay,
            };
            if let Some(status) = self.begin::<Hibernation>(&owned, beginning).await? {
                return Ok(status);
            }
        }
        Err(contended(runtime))
    }
}

/// Gardener's condition on hibernation, if there is one: whether it is possible, and why.
pub(super) fn hibernation_possible(shoot: &Shoot) -> Option<(bool, String)> {
    let constraints = shoot.status.as_ref()?.rest.get("constraints")?.as_array()?;
    let found = constraints.iter().find(|one| one["type"] == "HibernationPossible")?;
    let why = found["message"].as_str().unwrap_or_default().to_owned();
    Some((found["status"] != "False", why))
}
