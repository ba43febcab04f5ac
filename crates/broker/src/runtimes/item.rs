//! One runtime: from its row, or from the operation that removed it. One whose row cannot be read is its id and its operations.

use domain::{parameters::Provisioning, plan::Provider};
use jiff::Timestamp;
use serde::Deserialize;
use store::broker::{Instance, Page, RemovedInstance, Standing};
use uuid::Uuid;

use super::{
    Detail, Runtime, RuntimesQuery, Status, configs::Configs, operations::OperationRecord, status,
};
use crate::{
    Order,
    instances::{Broker, Reader},
};

/// A runtime's row, or the entry of a removed one.
pub(super) enum RuntimeRecord {
    /// Its row is there.
    Row(Box<Instance>),
    /// Its row is gone.
    Removed(RemovedInstance),
    /// Its row cannot be read.
    Unreadable(String),
}

/// The context for the description of a runtime.
#[derive(Clone, Copy)]
pub(super) struct ItemContext<'a> {
    pub(super) broker: &'a Broker,
    pub(super) ask: &'a RuntimesQuery,
    pub(super) configs: &'a Configs,
    pub(super) reader: Reader,
}

/// The part of an operation's input that tells what was ordered.
#[derive(Deserialize)]
struct OrderInput {
    order: Order,
}

/// The fields of an order that are listed for an instance whose row is there; the row has the others.
#[derive(Deserialize)]
struct OrderOfRow {
    parameters: Provisioning,
    context: ContextOfRow,
    #[serde(default)]
    subscription_account: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ContextOfRow {
    user_id: String,
}

/// The fields of an instance's details that are listed.
#[derive(Deserialize, Default)]
#[serde(default)]
struct DetailsOfRow {
    avs: Evaluations,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Evaluations {
    internal_id: Option<i64>,
}

impl RuntimeRecord {
    pub(super) fn from_row(row: Instance) -> Self {
        Self::Row(Box::new(row))
    }

    /// Everything on a page. What cannot be read is on it too: it is counted, and a page that has fewer than it should looks like the last.
    pub(super) fn of_page(page: Page) -> Vec<Self> {
        let rows = page.instances.into_iter().map(Self::from_row);
        rows.chain(page.unreadable.into_iter().map(Self::Unreadable)).collect()
    }

    pub(super) fn from_removed(removed: RemovedInstance) -> Self {
        Self::Removed(removed)
    }

    pub(super) fn instance(&self) -> &str {
        match self {
            Self::Row(row) => &row.id,
            Self::Removed(removed) => &removed.instance,
            Self::Unreadable(id) => id,
        }
    }

    /// Whether its row is gone.
    pub(super) fn is_removed(&self) -> bool {
        matches!(self, Self::Removed(_))
    }

    pub(super) fn runtime(&self) -> Option<Uuid> {
        match self {
            Self::Row(row) => row.runtime_id,
            Self::Removed(_) | Self::Unreadable(_) => None,
        }
    }

    /// The listed item, with its operations, oldest first.
    pub(super) fn into_item(self, telling: ItemContext<'_>, own: &[OperationRecord]) -> Runtime {
        let ItemContext { broker, ask, configs, reader } = telling;
        let mut runtime = match self {
            Self::Row(row) => {
                let mut item = from_row(broker, &row);
                if let Some(id) = row.runtime_id {
                    item.kyma_config = configs.kyma.get(&id).cloned();
                    item.cluster_config = configs.cluster.get(&id).cloned();
                }
                item
            }
            Self::Removed(removed) => from_removed(broker, &removed, own),
            Self::Unreadable(id) => unreadable(id, own),
        };
        if ask.detail == Detail::All {
            runtime.kyma_version = status::kyma_version(own);
        }
        let item = |operation: &OperationRecord| {
            let OperationRecord { snapshot, known } = operation;
            let description = broker.description(snapshot, known.imported.as_ref(), reader);
            status::item(operation, description)
        };
        status::fill(&mut runtime.status, own, ask.detail, item);
        runtime
    }
}

fn from_row(broker: &Broker, row: &Instance) -> Runtime {
    // What cannot be read is left out: one row must not hide a page of runtimes.
    let order: Option<OrderOfRow> = serde_json::from_slice(&row.order).ok();
    let details: DetailsOfRow = serde_json::from_slice(&row.details).unwrap_or_default();
    let mut runtime = Runtime {
        instance_id: row.id.clone(),
        runtime_id: row.runtime_id.map(|id| id.to_string()).unwrap_or_default(),
        global_account_id: row.global_account.clone(),
        sub_account_id: row.subaccount.clone(),
        region: row.region.clone(),
        sub_account_region: row.platform_region.clone(),
        shoot_name: row.shoot_name.clone(),
        service_class_id: row.service_id.clone(),
        service_class_name: broker.parts().catalog.service_name().to_owned(),
        service_plan_id: row.plan_id.clone(),
        service_plan_name: row.plan_name.clone(),
        provider: provider(&row.provider),
        avs_internal_evaluation_id: details.avs.internal_id.unwrap_or_default(),
        status: Status {
            created_at: row.created_at,
            modified_at: row.updated_at,
            expired_at: row.expired_at,
            deleted_at: row.deleted_at,
            state: status::word(row.standing),
            ..Status::default()
        },
        ..Runtime::default()
    };
    if let Some(order) = order {
        runtime.parameters = Some(Provisioning { kubeconfig: None, ..order.parameters });
        runtime.subscription_global_account_id = order.subscription_account.unwrap_or_default();
        runtime.user_id = order.context.user_id;
    }
    runtime
}

fn unreadable(instance: String, own: &[OperationRecord]) -> Runtime {
    let created_at = accepted_at(own);
    let status = Status {
        created_at,
        modified_at: created_at,
        state: Standing::Error.as_str(),
        ..Status::default()
    };
    Runtime { instance_id: instance, status, ..Runtime::default() }
}

/// When the oldest of these operations was accepted.
fn accepted_at(own: &[OperationRecord]) -> Timestamp {
    own.first().map_or(Timestamp::UNIX_EPOCH, |first| first.snapshot.created_at)
}

fn from_removed(broker: &Broker, removed: &RemovedInstance, own: &[OperationRecord]) -> Runtime {
    let mut all = own.iter().map(|operation| &operation.snapshot);
    let by = all.find(|operation| operation.id == removed.operation);
    let order = by.and_then(|by| serde_json::from_slice::<OrderInput>(&by.input).ok());
    // The customer is forgotten with it.
    Runtime {
        instance_id: removed.instance.clone(),
        // Logs and other systems are still searched by it.
        runtime_id: status::last_runtime(own).map(|id| id.to_string()).unwrap_or_default(),
        global_account_id: removed.global_account.clone(),
        user_id: String::new(),
        parameters: None,
        status: Status {
            created_at: accepted_at(own),
            modified_at: removed.ended_at,
            deleted_at: Some(removed.ended_at),
            state: Standing::Deprovisioned.as_str(),
            ..Status::default()
        },
        ..ordered(broker, order.map(|input| input.order))
    }
}

/// A runtime as far as its order describes it.
fn ordered(broker: &Broker, order: Option<Order>) -> Runtime {
    let service_class_name = broker.parts().catalog.service_name().to_owned();
    let Some(order) = order else { return Runtime { service_class_name, ..Runtime::default() } };
    Runtime {
        region: order.resolved.region_word().to_owned(),
        provider: provider(order.resolved.provider_word()),
        parameters: Some(Provisioning { kubeconfig: None, ..order.parameters }),
        subscription_global_account_id: order.subscription_account.unwrap_or_default(),
        sub_account_id: order.context.subaccount_id,
        sub_account_region: order.platform_region,
        shoot_name: order.shoot_name,
        service_class_id: order.service_id,
        service_class_name,
        service_plan_id: order.plan_id,
        service_plan_name: order.plan_name,
        user_id: order.context.user_id,
        ..Runtime::default()
    }
}

/// A provider as people write it.
fn provider(word: &str) -> String {
    let known = word.parse::<Provider>().ok().map(Provider::label);
    known.unwrap_or(word).to_owned()
}
