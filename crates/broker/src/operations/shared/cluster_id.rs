//! The id under which the Service Manager knows a runtime's cluster, where the broker has stored none: that of the runtime's `ConfigMap`.
//!
//! What a reader would get wrong: nothing has to be saved before the `ConfigMap` is created. A run that lost the answer finds the id there.

use clients::{Error, btp::Btp};
use secrecy::SecretString;
use uuid::Uuid;

use super::{InRuntime, kubeconfig, missing_data, on_runtime_error, open};
use crate::operations::prelude::*;

/// Whether the `ConfigMap` is created where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::operations) enum IfMissing {
    /// With a new id.
    Create,
    /// Nothing is changed in the runtime; the id is good for this run.
    Invent,
}

/// The id in the runtime.
pub(in crate::operations) async fn in_runtime<O: InRuntime>(
    cx: &mut Cx<'_, O>,
    if_missing: IfMissing,
) -> Result<String, StepError> {
    let Some(kubeconfig) = kubeconfig(cx).await? else {
        return Err(missing_data("the runtime has no kubeconfig any more"));
    };
    let found = read(cx, &kubeconfig, if_missing).await;
    found.map_err(|error| on_runtime_error(cx, error))
}

async fn read<O: InRuntime>(
    cx: &Cx<'_, O>,
    kubeconfig: &SecretString,
    if_missing: IfMissing,
) -> Result<String, Error> {
    let btp = Btp::new(open(cx, kubeconfig).await?);
    let made = Uuid::new_v4().to_string();
    match if_missing {
        IfMissing::Create => btp.cluster_id(&made).await,
        IfMissing::Invent => Ok(btp.stored_cluster_id().await?.unwrap_or(made)),
    }
}
