//! One instance of the original, with everything that belongs to it.

use domain::plan::Provider;
use engine::State;
use serde_json::Value;
use store::{
    broker::{ImportedInstance, NewInstance},
    engine::ImportedOperation,
    import::{Cipher, Finding, KebBinding, KebInstance, KebOperation, RowError},
};
use uuid::Uuid;

use super::{
    Import, cluster, details,
    operation::{self, Progress, Setting},
    order::{self, OrderSource},
    states, subject, unreadable,
};
use crate::{
    Order,
    instances::{
        comparable,
        pairs::{DEPROVISION, PROVISION},
    },
};

/// An instance as it is stored, and what an operator should know about it.
pub(super) struct MappedInstance {
    pub(super) imported: ImportedInstance,
    pub(super) left_out: LeftOut,
    pub(super) findings: Vec<Finding>,
}

/// How many of the rows that belong to an instance are not taken over; all but those that have expired have findings.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LeftOut {
    pub(super) operations: usize,
    pub(super) states: usize,
    pub(super) bindings: usize,
    pub(super) expired: u64,
}

impl Import<'_> {
    /// The instance as it is stored here, or why it cannot be.
    pub(super) fn mapped(
        &self,
        cipher: &Cipher,
        row: &KebInstance,
        operations: Vec<Result<KebOperation, RowError>>,
        bindings: Vec<Result<KebBinding, RowError>>,
    ) -> Result<MappedInstance, Finding> {
        let operations: Vec<KebOperation> = operations
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|error| unreadable("operation", &error))?;
        let mut findings = self.unfinished(row, &operations)?;
        let runtime = runtime(row)?;
        let sent = cluster::sent(row, &operations);
        let data = newest_data(&operations);
        let parts = OrderSource {
            instance: &row.instance_id,
            plan_id: &row.service_plan_id,
            parameters: &row.provisioning_parameters,
            account: &row.global_account_id,
            subscription_account: &row.subscription_global_account_id,
            provider: &row.provider,
            dashboard_url: &row.dashboard_url,
            data,
            sent: sent.as_ref(),
            cipher: Some(cipher),
        };
        let order = order::order(self.catalog, &parts)?;
        let as_sent = order::as_sent(self.catalog, &parts, &operations);
        let mut known = details::newest(&operations, runtime);
        let secret = sent.as_ref().and_then(|sent| details::words(sent.get("targetSecret")?));
        known.target_secret = secret.or(order.parameters.target_secret.clone());
        let (states, of_states) = match runtime {
            Some(runtime) => states::of(row, runtime, (&order, sent.as_ref()), cipher),
            None => Default::default(),
        };
        let bindings = states::bindings(row, runtime, bindings, (cipher, self.clock.now()));
        let (stored, of_operations) = history(&order, &operations, true);
        let left_out = LeftOut {
            operations: of_operations.len(),
            states: of_states.len(),
            bindings: bindings.findings.len(),
            expired: bindings.expired,
        };
        findings.extend(of_states.into_iter().chain(bindings.findings).chain(of_operations));
        let created_at = row.created_at.unwrap_or_default();
        let instance = new_instance(row, &order, &known).map_err(|_| unwritable(row))?;
        instance.check().map_err(|error| {
            let action = "correct the row in a copy of the original's database and import that";
            Finding::new(subject(&row.instance_id), error.to_string(), action)
        })?;
        let imported = ImportedInstance {
            digest: comparable(as_sent.as_ref().unwrap_or(&order)).map_err(|_| unwritable(row))?,
            operations: stored,
            instance,
            runtime_id: runtime,
            created_at,
            updated_at: row.updated_at.unwrap_or(created_at),
            deleted_at: row.deleted_at,
            expired_at: row.expired_at,
            states,
            bindings: bindings.taken,
        };
        Ok(MappedInstance { imported, left_out, findings })
    }

    /// The handling of operations that had not ended; an error when the instance is left to the original.
    fn unfinished(
        &self,
        row: &KebInstance,
        operations: &[KebOperation],
    ) -> Result<Vec<Finding>, Finding> {
        let id = &row.instance_id;
        let mut findings = Vec::new();
        for it in operations.iter().filter(|it| operation::progress(it) == Progress::Interrupted) {
            let suspends = it.data["temporary"].as_bool().unwrap_or_default();
            let made_before =
                |other: &KebOperation| other.kind == PROVISION && other.created_at < it.created_at;
            let returns = it.kind == PROVISION && operations.iter().any(made_before);
            let (problem, action) = match it.kind.as_str() {
                DEPROVISION if !suspends => (
                    format!("its removal (operation {}) is in progress in the original", it.id),
                    format!("kcp deprovision {id} finishes it"),
                ),
                kind if !self.unfinished => {
                    return Err(Finding::new(
                        subject(id),
                        format!("its {kind} (operation {}) is in progress in the original", it.id),
                        "let it end there and import again, or stop the original for good and import with --unfinished",
                    ));
                }
                DEPROVISION => (
                    format!(
                        "its suspension (operation {}) had not ended and counts as failed",
                        it.id
                    ),
                    format!("kcp suspend {id} suspends it again, kcp resume {id} brings it back"),
                ),
                PROVISION if returns => (
                    format!("its return from suspension (operation {}) had not ended", it.id),
                    format!("kcp resume {id} brings it back"),
                ),
                PROVISION => (
                    format!(
                        "its provisioning (operation {}, provisioner's operation {}) had not ended and counts as failed",
                        it.id, it.target_operation_id
                    ),
                    format!(
                        "kcp deprovision {id} removes what was made of it, then order it again"
                    ),
                ),
                kind => (
                    format!("its {kind} (operation {}) had not ended and counts as failed", it.id),
                    "make the change again".to_owned(),
                ),
            };
            findings.push(Finding::new(subject(id), problem, action));
        }
        Ok(findings)
    }
}

/// The operations of an instance as they are stored, and those that cannot be.
pub(super) fn history(
    order: &Order,
    operations: &[KebOperation],
    has_row: bool,
) -> (Vec<ImportedOperation>, Vec<Finding>) {
    // What only tells of the past needs no credentials.
    let mut plain = order.clone();
    plain.context.sm_operator_credentials = None;
    plain.parameters.kubeconfig = None;
    let mut made = false;
    let (mut stored, mut findings) = (Vec::new(), Vec::new());
    for it in operations {
        let returning = it.kind == PROVISION && std::mem::replace(&mut made, true);
        let continued = has_row && it.kind == DEPROVISION;
        let order = if continued { order } else { &plain };
        match operation::history(it, &Setting { order, has_row, returning }) {
            Ok(operation) => stored.push(operation),
            Err(finding) => findings.push(finding),
        }
    }
    (stored, findings)
}

/// The data of the newest operation that has begun.
pub(super) fn newest_data(operations: &[KebOperation]) -> &Value {
    let begun = operations.iter().rev().find(|it| {
        it.state != "pending" && operation::progress(it) != Progress::Ended(State::Canceled)
    });
    begun.or(operations.last()).map_or(&Value::Null, |operation| &operation.data)
}

fn runtime(row: &KebInstance) -> Result<Option<Uuid>, Finding> {
    if row.runtime_id.is_empty() {
        return Ok(None);
    }
    row.runtime_id.parse().map(Some).map_err(|_| {
        let problem = format!("its runtime \"{}\" is not a UUID", row.runtime_id);
        Finding::new(
            subject(&row.instance_id),
            problem,
            "correct the row in a copy of the original's database",
        )
    })
}

fn new_instance(
    row: &KebInstance,
    order: &Order,
    details: &crate::Details,
) -> Result<NewInstance, serde_json::Error> {
    let provider = match Provider::from_label(&row.provider) {
        Some(provider) => provider.as_str().to_owned(),
        None if row.provider.is_empty() => order.resolved.provider_word().to_owned(),
        None => row.provider.to_lowercase(),
    };
    Ok(NewInstance {
        id: row.instance_id.clone(),
        global_account: order.context.globalaccount_id.clone(),
        subaccount: if row.sub_account_id.is_empty() {
            order.context.subaccount_id.clone()
        } else {
            row.sub_account_id.clone()
        },
        service_id: row.service_id.clone(),
        plan_id: order.plan_id.clone(),
        plan_name: order.plan_name.clone(),
        provider,
        region: row.provider_region.clone(),
        platform_region: order.platform_region.clone(),
        shoot_name: order.shoot_name.clone(),
        dashboard_url: row.dashboard_url.clone(),
        order: serde_json::to_vec(order)?,
        details: Some(serde_json::to_vec(details)?),
    })
}

fn unwritable(row: &KebInstance) -> Finding {
    Finding::new(
        subject(&row.instance_id),
        "its order cannot be written",
        "look at its provisioning parameters in the original's database",
    )
}
