//! Shared by the steps of several plans: conditions, and access to clients and data.

pub(super) mod cluster_id;
pub(super) mod cluster_state;
pub(super) mod evaluations;
pub(super) mod event_hubs;
pub(super) mod get_kubeconfig;
pub(super) mod instance;
pub(super) mod instance_knowledge;
pub(super) mod kyma;
pub(super) mod ordering;
pub(super) mod reconciliation;
pub(crate) mod upgrading;

use std::time::Duration;

use base::failure::chain;
use clients::{
    Component, Error, Kind,
    kubernetes::{Cluster, Clusters, is_no_kind},
    provisioner::{OperationStatus, Tenant},
};
use domain::plan::Kind as PlanKind;
use engine::{Applies, Condition, Cx, Operation, StepError};
use jiff::Timestamp;
use secrecy::SecretString;
use serde::Serialize;
use store::{broker::InstanceChange, engine::Document};
use uuid::Uuid;

use super::{
    creator::Creator, env::Env, prelude::Failure, provisioning::Provisioning, systems::System,
};
use crate::Order;

type Context<'a> = Cx<'a, Provisioning>;

/// The plan whose runtimes get Kyma from the Lifecycle Manager alone. Nothing else tells it from its elder.
pub(crate) const PREVIEW: &str = "preview";
/// The plan of clusters that their owners bring along: an upgrade of the cluster changes nothing.
pub(crate) const OWN_CLUSTER: &str = "own_cluster";

/// Only for clusters that are made here.
pub(super) const fn is_ours<O: InRuntime>() -> Condition<O> {
    Condition::new("the plan is not own_cluster", |cx| {
        let theirs = O::order(cx).plan_kind == PlanKind::OwnCluster;
        Applies::when(!theirs, "the order brings its own cluster")
    })
}

/// Only for clusters that are brought along.
pub(super) const fn is_theirs() -> Condition<Provisioning> {
    Condition::new("the plan is own_cluster", |cx| {
        let theirs = cx.input.order.plan_kind == PlanKind::OwnCluster;
        Applies::when(theirs, "the cluster is made by the provisioner")
    })
}

/// Only where the Reconciler installs Kyma.
pub(super) const fn is_not_preview<O: InRuntime>() -> Condition<O> {
    Condition::new("the plan is not preview", |cx| {
        let preview = O::order(cx).plan_name == PREVIEW;
        Applies::when(!preview, "the plan has no Kyma from the Reconciler")
    })
}

/// Only where the order has credentials for the BTP operator.
pub(super) const fn has_operator_credentials<O: InRuntime>() -> Condition<O> {
    Condition::new("the order has credentials for the BTP operator", |cx| {
        let given = O::order(cx).context.sm_operator_credentials.is_some();
        Applies::when(given, "the order has no credentials for the BTP operator")
    })
}

/// Only where outages count.
pub(super) const fn is_kept_available() -> Condition<Provisioning> {
    Condition::new("the plan is neither trial nor free", |cx| {
        let tried = matches!(cx.input.order.plan_kind, PlanKind::Trial | PlanKind::Free);
        Applies::when(!tried, "trial and free runtimes are not watched from outside")
    })
}

/// Changes the instance's row in the commit of this run, and stores the operation's data there too: the operation that
/// comes after a failed or superseded one begins with it.
pub(super) fn update_instance(
    cx: &mut Cx<'_, Provisioning>,
    change: InstanceChange,
) -> Result<(), StepError> {
    let details = Some(document(&*cx.data)?);
    cx.change(&InstanceChange { details, ..change })
}

/// A value as it is stored.
pub(super) fn document(value: &impl Serialize) -> Result<Document, StepError> {
    Document::new(value).map_err(|error| StepError::internal(&error))
}

/// The collected input so far.
pub(super) fn creator<'a>(cx: &'a mut Cx<'_, Provisioning>) -> Result<&'a mut Creator, StepError> {
    // The stage's first step makes it, so it is there; and if it is not, starting over brings it back.
    cx.memory.creator.as_mut().ok_or_else(|| {
        StepError::transient(Failure::new("broker", "memory_lost", "nothing has been collected"))
    })
}

/// How long one run may take that orders a runtime. When it is over, no order is on its way any more.
pub(super) const ORDERING: Duration = Duration::from_secs(150);

/// Notes that an order for a runtime leaves, before it does: a removal that never got the
/// answer looks for the runtime as long as it may still come about.
pub(super) async fn ordering(cx: &mut Context<'_>) -> Result<(), StepError> {
    cx.data.runtime_ordered_at = Some(cx.now);
    cx.save().await
}

/// The runtime's id, once it is ordered.
pub(super) fn runtime_id<O: InRuntime>(cx: &Cx<'_, O>) -> Result<String, StepError> {
    let id = O::runtime(cx).map(|id| id.to_string());
    id.ok_or_else(|| missing_data("the runtime was never ordered"))
}

/// Something that an earlier step should have left behind.
pub(super) fn missing_data(what: &str) -> StepError {
    StepError::fatal(Failure::new("broker", "invalid_operation_data", what))
}

/// A system that the plan has steps for, and that is not configured here any more: another replica may have it.
pub(super) fn require_client<T>(client: Option<&T>, system: System) -> Result<&T, StepError> {
    client.ok_or_else(|| {
        let text = format!("{} is not configured", system.name());
        StepError::transient(Failure::new(system.name(), "not_configured", text))
    })
}

/// A failure that must not stop the operation, once no further run can help or it has lasted for `limit`. Until then it is
/// an error like any other. `since` keeps when it began, and is to be cleared on success.
pub(super) fn outlasted(
    error: StepError,
    since: &mut Option<Timestamp>,
    now: Timestamp,
    limit: Duration,
) -> Result<Failure, StepError> {
    let began_at = *since.get_or_insert(now);
    let failure = match error {
        StepError::Transient { failure, .. } if now >= began_at + limit => failure,
        StepError::Fatal(failure) => failure,
        error => return Err(error),
    };
    *since = None;
    Ok(failure)
}

/// The provisioner's failure of an operation.
pub(super) fn failed(status: OperationStatus) -> StepError {
    let failure = status.last_error.map_or_else(
        || Failure::new("provisioner", "failed", status.message.unwrap_or_default()),
        |error| Failure::new(error.component, error.reason, error.message),
    );
    StepError::fatal(failure)
}

/// For whom the provisioner is called.
pub(super) fn tenant(order: &Order) -> Tenant<'_> {
    Tenant { id: &order.context.globalaccount_id, subaccount: Some(&order.context.subaccount_id) }
}

/// An operation whose steps reach into the runtime.
pub(super) trait InRuntime: Operation {
    /// The current order.
    fn order<'a>(cx: &'a Cx<'_, Self>) -> &'a Order
    where
        Self: Sized;
    /// The runtime's id, once it is ordered.
    fn runtime(cx: &Cx<'_, Self>) -> Option<Uuid>
    where
        Self: Sized;
    /// The environment of all steps.
    fn reach<'a>(cx: &Cx<'a, Self>) -> &'a Env
    where
        Self: Sized;
    /// The runtime's kubeconfig, while it is remembered.
    fn kubeconfig<'a>(cx: &'a mut Cx<'_, Self>) -> &'a mut Option<SecretString>
    where
        Self: Sized;
}

/// The runtime's kubeconfig: the one in memory, the order's, or the provisioner's; none until there is one. One that cannot be
/// used is not kept, so that the next run asks for another.
pub(super) async fn kubeconfig<O: InRuntime>(
    cx: &mut Cx<'_, O>,
) -> Result<Option<SecretString>, StepError> {
    if let Some(kept) = O::kubeconfig(cx) {
        return Ok(Some(kept.clone()));
    }
    let order = O::order(cx);
    let found = if order.plan_kind == PlanKind::OwnCluster {
        let given = order.parameters.kubeconfig.as_ref();
        let given = given.ok_or_else(|| missing_data("the order brings no kubeconfig"))?;
        Some(SecretString::from(given.expose()))
    } else {
        let runtime = runtime_id(cx)?;
        let status = O::reach(cx).provisioner.runtime_status(tenant(order), &runtime).await?;
        status.kubeconfig().cloned()
    };
    if let Some(found) = &found {
        let opened = open(cx, found).await;
        if let Err(error) = opened {
            return Err(on_runtime_error(cx, error));
        }
    }
    O::kubeconfig(cx).clone_from(&found);
    Ok(found)
}

/// The runtime, opened. One that the order brings is reached where customers' clusters may be, and nowhere else.
pub(super) async fn open<O: InRuntime>(
    cx: &Cx<'_, O>,
    kubeconfig: &SecretString,
) -> Result<Cluster, Error> {
    clusters(cx).get(kubeconfig).await
}

fn clusters<'a, O: InRuntime>(cx: &Cx<'a, O>) -> &'a Clusters {
    match O::order(cx).plan_kind {
        PlanKind::OwnCluster => &O::reach(cx).customer_clusters,
        _ => &O::reach(cx).clusters,
    }
}

/// A failed call to a cluster. An API server that is being set up, and the page of a proxy in front of it, do not even have
/// the kind: that passes, or the step's limit does.
pub(super) fn in_cluster(error: Error) -> StepError {
    if is_no_kind(&error) { StepError::transient(error.failure()) } else { error.into() }
}

/// A failed call into the runtime. The next run asks for the kubeconfig again: this one may be out of date, or wrong.
pub(super) fn on_runtime_error<O: InRuntime>(cx: &mut Cx<'_, O>, error: Error) -> StepError {
    if error.component != Component::RUNTIME {
        return in_cluster(error);
    }
    if let Some(kubeconfig) = O::kubeconfig(cx).take()
        && error.kind == Kind::Unauthorized
    {
        clusters(cx).forget(&kubeconfig);
    }
    if O::order(cx).plan_kind == PlanKind::OwnCluster {
        return theirs(cx, error);
    }
    in_cluster(error)
}

/// A failed call into a cluster that the order brings. Its answer is not passed on: an order could make it speak for any host that
/// this process reaches.
fn theirs<O: InRuntime>(cx: &Cx<'_, O>, error: Error) -> StepError {
    tracing::warn!(operation.id = %cx.operation, error = chain(&error), "a cluster that an order brings cannot be used");
    let failure = Failure::new(
        Component::RUNTIME.0,
        "own_cluster_unusable",
        "the cluster cannot be used with the kubeconfig of the order: its API server must be reachable over https, under a certificate \
         that the kubeconfig verifies, and must accept its credentials",
    );
    match in_cluster(error) {
        StepError::Transient { retry_after, .. } => StepError::Transient { failure, retry_after },
        StepError::Fatal(_) => StepError::Fatal(failure),
        StepError::NotHeld => StepError::NotHeld,
    }
}
