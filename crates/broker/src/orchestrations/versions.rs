//! Whether there is a version of Kyma, said when an upgrade to it is asked for.
//!
//! What a reader would get wrong: a place of releases that cannot be asked refuses nobody. Each upgrade asks again, and waits for it.

use clients::{Error, Kind, releases::ComponentLists};
use domain::orchestration::Parameters;

use super::Orchestrations;
use crate::instances;

impl Orchestrations {
    /// Refuses a version that there is not.
    pub(super) async fn check_version(&self, asked: &Parameters) -> Result<(), instances::Error> {
        let version = asked.kyma.as_ref().map_or("", |kyma| kyma.version.as_str());
        let Some(versions) = self.0.versions.as_ref().filter(|_| !version.is_empty()) else {
            return Ok(());
        };
        match exists(versions, version).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                let text = format!("kyma.version: there is no Kyma {version}");
                Err(instances::Error::Bad(text))
            }
            Err(error) => {
                tracing::warn!(%error, version, "version of Kyma not checked");
                Ok(())
            }
        }
    }
}

async fn exists(components: &ComponentLists, version: &str) -> Result<bool, Error> {
    match components.of(version).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind == Kind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
