//! Has the provisioner remove the cluster.
//!
//! What a reader would get wrong: that nobody knows a cluster does not mean that there is none. A create may have been
//! stopped after its order left and before the answer came, so the cluster is looked for under what was known before,
//! and the order is given the time that it may need to arrive. What the provisioner does with the runtime meanwhile may never
//! end, so it is called off; a provisioner that cannot do that is waited for.

use base::Failure;
use clients::{
    Kind,
    gardener::{RUNTIME_ANNOTATION, SUBACCOUNT_LABEL},
    provisioner::{OperationType, Tenant},
};
use engine::{StepError, wait};

use uuid::Uuid;

use super::{Deprovisioning, as_transient, is_own_cluster, runtime};
use crate::operations::{prelude::*, shared::ORDERING};

/// A margin for the clocks of replicas, which differ by seconds.
const DOUBT: Duration = secs(30);

pub(super) struct RemoveRuntime;

impl Step<Deprovisioning> for RemoveRuntime {
    const NAME: &'static str = "Remove_Runtime";
    const CALLS: &'static [&'static str] = &["provisioner", "director", "gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), secs(30)).backing_off(secs(5), secs(30));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        match order(cx, 1).await? {
            RemovalOrder::Yes => done(),
            RemovalOrder::NotYet(reason) => wait(reason),
            RemovalOrder::Gone => {
                cx.data.cluster_is_gone();
                done()
            }
        }
    }
}

/// The result of an order.
pub(super) enum RemovalOrder {
    /// The provisioner works on it, as this operation.
    Yes,
    /// The provisioner has to finish something else first.
    NotYet(String),
    /// There is no cluster.
    Gone,
}

/// Orders the removal, as the n-th order of the step: an order that has failed is never answered again with its failure.
pub(super) async fn order(
    cx: &mut Cx<'_, Deprovisioning>,
    nth: usize,
) -> Result<RemovalOrder, StepError> {
    if is_own_cluster(cx) {
        return Ok(RemovalOrder::Gone);
    }
    if cx.data.details.runtime_id.is_none() {
        cx.data.details.runtime_id = search(cx).await?;
    }
    let Some(runtime) = runtime(cx) else { return Ok(unknown(cx)) };
    let tenant = Tenant::new(&cx.input.order.context.globalaccount_id);
    let provisioner = &cx.env.provisioner;
    let key = cx.key("order").nth(nth).formerly(nth);
    let begun = match provisioner.deprovision(tenant, key, &runtime).await {
        Ok(operation) => operation,
        Err(error) if error.kind == Kind::NotFound => return Ok(unknown(cx)),
        Err(error) if error.kind == Kind::Busy => {
            let status =
                provisioner.runtime_status(tenant, &runtime).await.map_err(as_transient)?;
            let last = status.last_operation.as_ref();
            let going = last.filter(|last| is_removal(last.operation));
            match going.and_then(|last| last.id.clone()) {
                Some(operation) => operation,
                None => {
                    let key = cx.key("supersede").nth(nth);
                    match provisioner.deprovision_superseding(tenant, key, &runtime).await {
                        Ok(operation) => operation,
                        Err(error) if error.kind == Kind::NotFound => return Ok(unknown(cx)),
                        Err(error) if error.kind == Kind::Busy => {
                            let what = last.and_then(|last| last.message.as_deref());
                            return Ok(RemovalOrder::NotYet(format!(
                                "the provisioner finishes something else first: {}",
                                what.unwrap_or("busy")
                            )));
                        }
                        Err(error) => return Err(as_transient(error)),
                    }
                }
            }
        }
        Err(error) => return Err(as_transient(error)),
    };
    if !cx.data.removals.contains(&begun) {
        cx.data.removals.push(begun);
    }
    Ok(RemovalOrder::Yes)
}

fn is_removal(operation: OperationType) -> bool {
    matches!(operation, OperationType::Deprovision | OperationType::DeprovisionNoInstall)
}

/// The result when the provisioner has no such cluster.
fn unknown(cx: &Cx<'_, Deprovisioning>) -> RemovalOrder {
    let left_at = cx.data.details.runtime_ordered_at;
    if left_at.is_some_and(|at| cx.now < at + ORDERING + DOUBT) {
        return RemovalOrder::NotYet(
            "an order for the cluster may still reach the provisioner".into(),
        );
    }
    RemovalOrder::Gone
}

/// The cluster of a create whose order got through and whose answer was lost.
async fn search(cx: &Cx<'_, Deprovisioning>) -> Result<Option<Uuid>, StepError> {
    match look_in_the_director(cx).await? {
        None => look_in_the_garden(cx).await,
        found => Ok(found),
    }
}

/// The provisioner registers a runtime, with the instance's id, before it begins anything else.
async fn look_in_the_director(cx: &Cx<'_, Deprovisioning>) -> Result<Option<Uuid>, StepError> {
    let Some(director) = &cx.env.director else { return Ok(None) };
    let account = &cx.input.order.context.globalaccount_id;
    let found = director.find_by_instance(account, cx.instance).await.map_err(as_transient)?;
    Ok(found.and_then(|id| id.parse().ok()))
}

/// The Shoot's name was chosen before it was ordered. A name alone says nothing: another one's cluster must not be removed for it.
async fn look_in_the_garden(cx: &Cx<'_, Deprovisioning>) -> Result<Option<Uuid>, StepError> {
    let order = &cx.input.order;
    let found = cx.env.gardener.shoot(&order.shoot_name).await.map_err(as_transient)?;
    let Some(shoot) = found else { return Ok(None) };
    match shoot.label(SUBACCOUNT_LABEL).filter(|label| !label.is_empty()) {
        Some(label) if label == order.context.subaccount_id => {}
        Some(_) => return Ok(not_ours(cx, "it belongs to another subaccount")),
        None => return Err(foreign(&order.shoot_name, "which subaccount it belongs to")),
    }
    let id: Option<Uuid> = shoot.annotation(RUNTIME_ANNOTATION).and_then(|id| id.parse().ok());
    let Some(id) = id else { return Err(foreign(&order.shoot_name, "which runtime it is")) };
    let owner = cx.env.store.find_by_runtime(id).await;
    match owner.map_err(|error| StepError::internal(&error))? {
        Some(owner) if owner.id != cx.instance => {
            Ok(not_ours(cx, "it is the cluster of another instance"))
        }
        _ => Ok(Some(id)),
    }
}

/// A Shoot that has the name of the instance's cluster and is certainly another one: the name was free, so the instance has none.
fn not_ours(cx: &Cx<'_, Deprovisioning>, why: &str) -> Option<Uuid> {
    let (instance, shoot) = (cx.instance, &cx.input.order.shoot_name);
    tracing::warn!(instance.id = instance, shoot, why, "Shoot skipped, not of this instance");
    None
}

/// A Shoot of which nobody can tell whether it is the instance's cluster: neither removed nor forgotten.
fn foreign(name: &str, what: &str) -> StepError {
    let text = format!("Shoot {name} does not say {what}");
    StepError::transient(Failure::new("gardener", "foreign_shoot", text))
}
