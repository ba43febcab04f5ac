//! Orders the cluster from the provisioner. Kyma comes later, from the Reconciler.
//!
//! What a reader would get wrong: an order whose answer was lost is not lost. The call carries a key that is the same
//! in every run, and the provisioner answers a repetition with what it began the first time.

use store::broker::{InstanceChange, RuntimeId, StateChange};
use uuid::Uuid;

use super::Provisioning;
use crate::operations::{
    creator::ProvisionTarget,
    prelude::*,
    shared::{ORDERING, creator, document, missing_data, ordering, tenant, update_instance},
};

pub(super) struct CreateRuntimeWithoutKyma;

impl Step<Provisioning> for CreateRuntimeWithoutKyma {
    const NAME: &'static str = "Create_Runtime_Without_Kyma";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry =
        Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(60)).each_within(ORDERING);

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.runtime_id.is_some() {
            return done();
        }
        let order = &cx.input.order;
        let name = cx.data.cluster_name.clone().unwrap_or_default();
        let target_secret = cx.data.target_secret.clone().unwrap_or_default();
        let dns_providers = &cx.env.settings.dns_providers;
        let creator = creator(cx)?;
        creator.label("broker_instance_id", &order.instance_id);
        creator.label("global_subaccount_id", &order.context.subaccount_id);
        creator.label("operator_grafanaUrl", format!("https://grafana.{}", order.shoot_domain));
        let place = ProvisionTarget { name: &name, target_secret: &target_secret, dns_providers };
        let wanted = creator.provision(order, place)?;
        ordering(cx).await?;
        let key = cx.key("order").formerly(1);
        let begun = cx.env.provisioner.provision(tenant(order), key, &wanted).await?;
        let runtime = begun.runtime_id.as_deref().map(Uuid::parse_str).transpose();
        let (Ok(Some(runtime)), Some(operation)) = (runtime, begun.id) else {
            return Err(missing_data("the provisioner did not say what it began"));
        };
        cx.data.runtime_id = Some(runtime);
        cx.data.target_operation_id = Some(operation);
        cx.data.runtime_ordered_at = None;
        let holds = vec!["cluster-config".into()];
        let state = StateChange { runtime_id: None, holds, payload: document(&wanted)? };
        let change = InstanceChange {
            runtime_id: RuntimeId::Set(runtime),
            region: Some(order.resolved.region_word().into()),
            runtime_state: Some(state),
            ..InstanceChange::default()
        };
        update_instance(cx, change)?;
        done()
    }
}
