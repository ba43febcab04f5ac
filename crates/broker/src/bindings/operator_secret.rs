//! Whether the BTP operator's Secret in a runtime is as the order has it.

use clients::{
    Kind,
    btp::{Btp, ManagerCredentials, ManagerState},
};
use store::broker::Instance;

use super::{
    Bindings,
    runtime::{OpenRuntime, called},
};
use crate::{Details, Order, instances::Error};

impl Bindings {
    /// What the Secret in an instance's runtime should have; none where the order brings no credentials, or nothing was ever written.
    pub fn operator_secret(row: &Instance) -> Option<ManagerCredentials> {
        let order: Order = serde_json::from_slice(&row.order).ok()?;
        let details: Details = serde_json::from_slice(&row.details).ok()?;
        let given = order.context.sm_operator_credentials?;
        Some(given.for_cluster(details.sm_cluster_id.as_deref()?))
    }

    /// Compares the Secret in an instance's runtime. Nothing is changed there.
    pub async fn compare_operator_secret(
        &self,
        row: &Instance,
        wanted: &ManagerCredentials,
    ) -> Result<ManagerState, Error> {
        let mut refused = false;
        loop {
            let opened = self.open(row).await;
            let OpenRuntime { cluster, admin } =
                opened.map_err(|trouble| trouble.into_error(row))?;
            match Btp::new(cluster).manager(wanted).await {
                Err(error) if error.kind == Kind::Unauthorized && !refused => {
                    refused = true;
                    let forgotten = self.forget(row, &admin, &error);
                    forgotten.map_err(|trouble| trouble.into_error(row))?;
                }
                compared => {
                    return compared.map_err(|error| called(row, error).into_error(row));
                }
            }
        }
    }
}
