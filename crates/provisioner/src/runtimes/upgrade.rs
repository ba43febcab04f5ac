//! Another version of Kyma, of Kubernetes, or of both.

use super::{
    Caller, Provisioner,
    access::OwnedRuntime,
    begin::{Mark, OperationStart, TRIES, UnfinishedPolicy, contended},
};
use crate::{
    Error, checking,
    document::{Document, Upgrade as Taken},
    operations::{Versions, upgrade::Upgrade},
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
            let owned = self.owned(caller, runtime).await?;
            let mark = caller.mark("upgradeRuntime", owned.row.id, &request)?;
            if let Some(status) = self.answered(&mark).await? {
                return Ok(status);
            }
            self.check_changeable(&owned.row).await?;
            let beginning = self.upgraded(&owned, &request, mark).await?;
            if let Some(status) = self.begin::<Upgrade>(&owned, beginning).await? {
                return Ok(status);
            }
        }
        Err(contended(runtime))
    }

    async fn upgraded(
        &self,
        owned: &OwnedRuntime,
        request: &requests::Upgrade,
        mark: Mark,
    ) -> Result<OperationStart, Error> {
        let live = self.awake_shoot(&owned.row).await?;
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
            upgrade = Some(Taken { operation: mark.id, before });
        }
        if request.kubernetes_version.is_some() {
            configuration.cluster.kubernetes_version = checking::kubernetes_version(
                &configuration.cluster.kubernetes_version,
                live.as_ref(),
                request.kubernetes_version.as_deref(),
            )?;
        }
        let (kyma, shoot) = (request.kyma.is_some(), request.kubernetes_version.is_some());
        Ok(OperationStart {
            known_as: OperationType::Upgrade,
            document: Document { configuration, upgrade },
            // Which Kyma counts is switched before the upgrade runs; taking it back is a call of its own. Together
            // with Kubernetes it is switched once Gardener has accepted the version.
            at_once: kyma && !shoot,
            kyma,
            shoot,
            first_message: if kyma {
                "Starting Kyma upgrade".into()
            } else {
                "Starting Kubernetes upgrade".into()
            },
            requested: Versions {
                kubernetes: request.kubernetes_version.clone(),
                machine_image: None,
            },
            mark,
            others: UnfinishedPolicy::Stay,
        })
    }
}
