//! The kubeconfig with which the people of an instance log in. It holds no credentials.

use clients::kubernetes::{ClusterAddress, OidcLogin};
use domain::plan::Kind as PlanKind;
use engine::State;

use super::{Bindings, runtime::Trouble};
use crate::{
    Order,
    instances::{Caller, Error, pairs::PROVISION},
};

impl Bindings {
    /// The kubeconfig of an instance's runtime.
    pub async fn kubeconfig(&self, caller: &Caller, instance: &str) -> Result<String, Error> {
        let missing = |text: String| Err(Error::NotFound(text));
        let row = self.instance(caller, instance).await?.filter(|row| row.deleted_at.is_none());
        let Some(row) = row else {
            return missing(format!("instance with ID {instance} does not exist"));
        };
        let order: Order = serde_json::from_slice(&row.order)?;
        let none = format!("kubeconfig for instance {instance} does not exist");
        if order.plan_kind == PlanKind::OwnCluster {
            return missing(none);
        }
        if row.runtime_id.is_none() {
            return missing(format!(
                "{none}. Provisioning could be in progress, please try again later"
            ));
        }
        let made_by = self.broker().newest_effective(&row.id, &[PROVISION]).await?;
        let operation = format!("provisioning operation for instance {instance}");
        match made_by.map(|made_by| made_by.state) {
            Some(State::Succeeded) => {}
            None => {
                return missing(format!(
                    "provisioning operation for instance with ID {instance} does not exist"
                ));
            }
            Some(State::Pending | State::InProgress) => {
                let text = "is in progress state, kubeconfig not exist yet, please try again later";
                return missing(format!("{operation} {text}"));
            }
            Some(State::Failed | State::Canceled) => {
                return missing(format!("{operation} failed, kubeconfig does not exist"));
            }
        }
        let status = match self.status(&row).await {
            Err(Trouble::Gone) => return missing(none),
            status => status.map_err(|trouble| trouble.into_error(&row))?,
        };
        let Some(admin) = status.kubeconfig() else {
            let text = "the provisioner has no kubeconfig of the runtime";
            return Err(Error::runtime(&row.id, text.into()));
        };
        let address =
            ClusterAddress::of(admin).map_err(|error| Error::runtime(&row.id, error.into()))?;
        // As the cluster has it now; an order that is being changed says what it will have.
        let present = status.cluster().and_then(|cluster| cluster.oidc_config.as_ref());
        let present = present.filter(|oidc| !oidc.issuer_url.is_empty());
        let ordered = order.resolved.cluster.as_ref().map(|cluster| &cluster.oidc);
        let login = match (present, ordered) {
            (Some(oidc), _) => {
                OidcLogin { issuer_url: &oidc.issuer_url, client_id: &oidc.client_id }
            }
            (None, Some(oidc)) => {
                OidcLogin { issuer_url: &oidc.issuer_url, client_id: &oidc.client_id }
            }
            (None, None) => return missing(none),
        };
        Ok(address.with_login(login))
    }
}
