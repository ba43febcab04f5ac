//! Another version of Kyma, of Kubernetes, or of both.

use super::{
    Caller, Provisioner,
    access::Owned,
    begin::{Beginning, TRIES, contended},
};
use crate::{
    Error, checking,
    document::{Document, Upgrade as Taken},
    operations::upgrade::Upgrade,
    requests,
    status::{OperationStatus, OperationType},
};

impl Provisioner {
    /// Gives a runtime another version of Kyma, of Kubernetes, or of both.
    pub async fn upgrade(
        &self,
        caller: &Caller,
        runtime: &str,
        request: requests::Upgrade,
    ) -> Result<OperationStatus, Error> {
        if request.kyma.is_none() && request.kubernetes_version.is_none() {
            return Err(Error::bad(
                "config: neither kymaConfig nor kubernetesVersion is given, there is nothing to upgrade",
            ));
        }
        for _ in 0..TRIES {
            let owned = self.changeable(caller, runtime).await?;
            let beginning = self.upgraded(caller, &owned, &request).await?;
            if let Some(status) = self.begin::<Upgrade>(&owned, beginning).await? {
                return Ok(status);
            }
        }
        Err(contended(runtime))
    }

    async fn upgraded(
        &self,
        caller: &Caller,
        owned: &Owned,
        request: &requests::Upgrade,
    ) -> Result<Beginning, Error> {
        let id = caller.operation_id("upgradeRuntime", &owned.row.id.to_string());
        let mut configuration = owned.document.configuration.clone();
        let mut upgrade = owned.document.upgrade.clone();
        if let Some(kyma) = &request.kyma {
            let Some(before) = configuration.kyma.take() else {
                return Err(Error::bad(format!(
                    "failed to upgrade cluster: {} Kyma configuration of the cluster is managed by Reconciler",
                    owned.row.id
                )));
            };
            let wanted = checking::kyma(kyma.clone(), &self.0.defaults, "Runtime upgrade")?;
            self.check_release(&wanted.version).await?;
            configuration.kyma = Some(wanted);
            upgrade = Some(Taken { operation: id, before });
        }
        if request.kubernetes_version.is_some() {
            let live = self.live_shoot(&owned.row).await?;
            configuration.cluster.kubernetes_version = checking::kubernetes_version(
                &configuration.cluster.kubernetes_version,
                live.as_ref(),
                request.kubernetes_version.as_deref(),
            )?;
        }
        Ok(Beginning {
            known_as: OperationType::Upgrade,
            document: Document { configuration, upgrade },
            // Which Kyma counts is switched before the upgrade runs; taking it back is a call of its own.
            at_once: request.kyma.is_some(),
            kyma: request.kyma.is_some(),
            shoot: request.kubernetes_version.is_some(),
            first_message: "Starting Kyma upgrade",
            id,
        })
    }
}
