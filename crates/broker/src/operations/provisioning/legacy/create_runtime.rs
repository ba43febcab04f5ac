//! Orders the runtime, Kyma included, from the provisioner; then the stage starts over and waits for it.
//!
//! What a reader would get wrong: a repetition after a crash is not the same request, because certificates and secrets
//! in it are new, so the provisioner would refuse it. What an earlier run ordered is looked for in the Director.

use clients::{Kind, provisioner::OperationStatus};
use engine::step::again;
use store::broker::{InstanceChange, RuntimeId, StateChange};
use uuid::Uuid;

use super::super::Provisioning;
use crate::operations::{
    creator::ProvisionTarget,
    prelude::*,
    shared::{ORDERING, creator, document, missing_data, ordering, tenant, update_instance},
};

pub(super) struct CreateRuntime;

impl Step<Provisioning> for CreateRuntime {
    const NAME: &'static str = "Create_Runtime";
    const CALLS: &'static [&'static str] = &["provisioner", "director"];
    const RETRY: Retry =
        Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(60)).each_within(ORDERING);

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let order = &cx.input.order;
        let name = cx.data.cluster_name.clone().unwrap_or_default();
        let target_secret = cx.data.target_secret.clone().unwrap_or_default();
        let dns_providers = &cx.env.settings.dns_providers;
        let creator = creator(cx)?;
        creator.label("broker_instance_id", &order.instance_id);
        creator.label("global_subaccount_id", &order.context.subaccount_id);
        let place = ProvisionTarget { name: &name, target_secret: &target_secret, dns_providers };
        let mut wanted = creator.provision(order, place)?;
        wanted.kyma = Some(creator.kyma(order));
        let begun = match ordered_before(cx).await? {
            EarlierOrder::Began(begun) => *begun,
            EarlierOrder::Nothing { nth } => {
                ordering(cx).await?;
                let key = cx.key("order").nth(nth).formerly(nth);
                cx.env.provisioner.provision(tenant(order), key, &wanted).await?
            }
        };
        let runtime = begun.runtime_id.as_deref().map(Uuid::parse_str).transpose();
        let (Ok(Some(runtime)), Some(operation)) = (runtime, begun.id) else {
            return Err(missing_data("the provisioner did not say what it began"));
        };
        cx.data.runtime_id = Some(runtime);
        cx.data.target_operation_id = Some(operation);
        cx.data.runtime_ordered_at = None;
        let holds = vec!["cluster-config".into(), "kyma-version".into()];
        let state = StateChange { runtime_id: None, holds, payload: document(&wanted)? };
        let change = InstanceChange {
            runtime_id: RuntimeId::Set(runtime),
            region: Some(order.resolved.region_word().into()),
            runtime_state: Some(state),
            ..InstanceChange::default()
        };
        update_instance(cx, change)?;
        again(secs(1), "the runtime is ordered")
    }
}

/// An order of an earlier run that died before it saved the result.
enum EarlierOrder {
    /// The provisioner has begun this.
    Began(Box<OperationStatus>),
    /// Nothing that the provisioner knows. An order after a registration that led to nothing is another one, because the
    /// secrets in it are new: it has a key of its own.
    Nothing { nth: usize },
}

async fn ordered_before(cx: &Cx<'_, Provisioning>) -> Result<EarlierOrder, StepError> {
    let Some(director) = &cx.env.director else { return Ok(EarlierOrder::Nothing { nth: 1 }) };
    let order = &cx.input.order;
    let account = &order.context.globalaccount_id;
    let Some(runtime) = director.find_by_instance(account, &order.instance_id).await? else {
        return Ok(EarlierOrder::Nothing { nth: 2 });
    };
    let registered = EarlierOrder::Nothing { nth: 3 };
    match cx.env.provisioner.runtime_status(tenant(order), &runtime).await {
        Err(error) if error.kind == Kind::NotFound => Ok(registered),
        status => Ok(status?
            .last_operation
            .map_or(registered, |begun| EarlierOrder::Began(Box::new(begun)))),
    }
}
