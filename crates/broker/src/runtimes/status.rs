//! The state of a runtime and its operations, as operators see them.

use store::broker::Standing;
use uuid::Uuid;

use super::{
    Detail, Group, OperationItem, Status,
    operations::{NEWEST, OperationRecord, last},
};
use crate::instances::pairs::{DEPROVISION, PROVISION, UPDATE, UPGRADE_CLUSTER, UPGRADE_KYMA};

/// The sort of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Provisioning,
    Deprovisioning,
    Suspension,
    Unsuspension,
    Update,
    UpgradeKyma,
    UpgradeCluster,
}

/// The version of Kyma that the newest order was about, or an upgrade since then that was worked on.
pub(super) fn kyma_version(own: &[OperationRecord]) -> Option<String> {
    let mut newest = own.iter().rev().filter(|it| it.sets_kyma());
    newest.find_map(|it| it.known.applied_version.clone())
}

/// The last cluster that operations worked on, of an instance whose row is gone.
pub(super) fn last_runtime(own: &[OperationRecord]) -> Option<Uuid> {
    own.iter().rev().find_map(|operation| operation.known.runtime_id)
}

/// The word for a runtime whose row is there: one that was removed has left something over.
pub(super) fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Deprovisioned => "deprovisionincomplete",
        other => other.as_str(),
    }
}

/// Puts the operations where they belong.
pub(super) fn fill(
    status: &mut Status,
    own: &[OperationRecord],
    detail: Detail,
    item: impl Fn(&OperationRecord) -> OperationItem,
) {
    if let Some(newest) = own.iter().rev().find(|it| it.has_begun()) {
        status.modified_at = newest.snapshot.updated_at;
    }
    let sorts: Vec<Option<Sort>> = sorts(own);
    let last = last(own).map(|last| last.snapshot.id);
    let sorted = || own.iter().zip(&sorts).rev();
    let group = sorted().find(|(it, _)| Some(it.snapshot.id) == last).and_then(|(_, sort)| *sort);
    for (operation, sort) in sorted() {
        let Some(sort) = *sort else { continue };
        if detail == Detail::All || group == Some(sort) {
            add(status, sort, || item(operation));
        }
    }
}

/// The sort of each operation; none for operations that are not listed here.
fn sorts(own: &[OperationRecord]) -> Vec<Option<Sort>> {
    let mut order = None;
    let sort = |operation: &OperationRecord| match operation.kind() {
        _ if !operation.is_shown() => None,
        // The order itself, and what operators did to continue it.
        PROVISION if *order.get_or_insert(operation.snapshot.root) == operation.snapshot.root => {
            Some(Sort::Provisioning)
        }
        PROVISION => Some(Sort::Unsuspension),
        DEPROVISION if operation.known.temporary => Some(Sort::Suspension),
        DEPROVISION => Some(Sort::Deprovisioning),
        UPDATE => Some(Sort::Update),
        UPGRADE_KYMA => Some(Sort::UpgradeKyma),
        UPGRADE_CLUSTER => Some(Sort::UpgradeCluster),
        _ => None,
    };
    own.iter().map(sort).collect()
}

/// Adds an operation that is older than those added before.
fn add(status: &mut Status, sort: Sort, item: impl FnOnce() -> OperationItem) {
    let (group, most) = match sort {
        Sort::Provisioning => {
            status.provisioning.get_or_insert_with(item);
            return;
        }
        Sort::Deprovisioning => {
            status.deprovisioning.get_or_insert_with(item);
            return;
        }
        Sort::Suspension => (&mut status.suspension, usize::MAX),
        Sort::Unsuspension => (&mut status.unsuspension, usize::MAX),
        Sort::Update => (&mut status.update, NEWEST),
        Sort::UpgradeKyma => (&mut status.upgrading_kyma, NEWEST),
        Sort::UpgradeCluster => (&mut status.upgrading_cluster, NEWEST),
    };
    push(group, most, item);
}

fn push(group: &mut Group, most: usize, item: impl FnOnce() -> OperationItem) {
    group.total_count += 1;
    if group.data.len() < most {
        group.data.push(item());
        group.count += 1;
    }
}

/// One operation, with its description.
pub(super) fn item(operation: &OperationRecord, description: String) -> OperationItem {
    let OperationRecord { snapshot, known } = operation;
    OperationItem {
        state: snapshot.state.as_str(),
        description,
        created_at: snapshot.created_at,
        updated_at: snapshot.updated_at,
        operation_id: snapshot.id.into(),
        orchestration_id: known.orchestration,
        finished_stages: snapshot.closed.clone(),
        executed_but_not_completed_steps: snapshot
            .incomplete
            .iter()
            .filter_map(|at| unfinished(at))
            .collect(),
        runtime_version: known.version.clone().unwrap_or_default(),
    }
}

/// The name of a step that was executed and not completed. That the row is kept is no work of its own: it follows from the others.
fn unfinished(at: &str) -> Option<String> {
    let step = at.rsplit('/').next().unwrap_or(at);
    (step != "Remove_Instance").then(|| step.to_owned())
}
