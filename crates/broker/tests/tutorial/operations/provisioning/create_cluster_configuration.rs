//! Hands the Kyma that the runtime shall have to the Reconciler: what was collected leaves the process here.

use secrecy::SecretString;

use super::Provisioning;
use crate::operations::{prelude::*, shared::creator};

pub(super) struct CreateClusterConfiguration;

impl Step<Provisioning> for CreateClusterConfiguration {
    const NAME: &'static str = "Create_Cluster_Configuration";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let order = &cx.input.order;
        let kubeconfig = SecretString::from("apiVersion: v1");
        let cluster = creator(cx)?.cluster(order, "runtime-1", "runtime", &kubeconfig)?;
        let request = cx.env.reconciler.put("configuration").json(&cluster.kyma_config);
        cx.env.reconciler.send("handing over the configuration", request).await?;
        done()
    }
}
