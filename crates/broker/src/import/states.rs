//! The last configuration of a runtime, in the form that our own steps write.

use clients::reconciler;
use serde_json::{Map, Value, json};
use store::{
    broker::{ImportedBinding, ImportedState},
    import::{Cipher, ClusterSetup, Finding, KebBinding, KebInstance, RowError},
};
use uuid::Uuid;

use super::{subject, unreadable};
use crate::Order;

/// The last configuration that was sent, and the parts that cannot be imported.
pub(super) fn of(
    row: &KebInstance,
    runtime: Uuid,
    (order, sent): (&Order, Option<&Map<String, Value>>),
    cipher: &Cipher,
) -> (Vec<ImportedState>, Vec<Finding>) {
    let (mut states, mut findings) = (Vec::new(), Vec::new());
    if let (Some(sent), Some(last)) = (sent, row.configs.last()) {
        let administrators = &order.resolved.administrators;
        let payload =
            json!({"clusterConfig": {"gardenerConfig": sent, "administrators": administrators}});
        states.push(ImportedState {
            runtime,
            operation: last.operation_id.parse().unwrap_or_default(),
            holds: vec!["cluster-config".into()],
            payload: payload.to_string().into_bytes(),
            created_at: last.created_at.unwrap_or_default(),
        });
    }
    if let Some(setup) = &row.setup {
        match reconciled(setup, cipher) {
            Ok(payload) => states.push(ImportedState {
                runtime,
                operation: setup.operation_id.parse().unwrap_or_default(),
                holds: vec!["cluster-setup".into(), "kyma-version".into()],
                payload,
                created_at: setup.created_at.unwrap_or_default(),
            }),
            Err(problem) => findings.push(Finding::new(
                subject(&row.instance_id),
                format!("the configuration that the Reconciler has of it cannot be {problem}"),
                "updates of its credentials do not reach the Reconciler until Kyma is installed again",
            )),
        }
    }
    (states, findings)
}

/// The Reconciler's configuration as our own steps read it: lists that are null there are empty here.
fn reconciled(setup: &ClusterSetup, cipher: &Cipher) -> Result<Vec<u8>, &'static str> {
    let text = cipher.open(&setup.cluster_setup).map_err(|_| "decrypted")?;
    let mut payload: Value = serde_json::from_str(&text).map_err(|_| "read")?;
    let kyma = &mut payload["kymaConfig"];
    let empty_list = |value: &mut Value| {
        if value.is_null() {
            *value = json!([]);
        }
    };
    empty_list(&mut kyma["administrators"]);
    empty_list(&mut kyma["components"]);
    for component in kyma["components"].as_array_mut().into_iter().flatten() {
        empty_list(&mut component["configuration"]);
    }
    let payload: reconciler::Cluster = serde_json::from_value(payload).map_err(|_| "read")?;
    serde_json::to_vec(&payload).map_err(|_| "read")
}

/// The bindings of an instance: those that are stored, and how many cannot be used any more. The others have findings.
#[derive(Default)]
pub(super) struct MappedBindings {
    pub(super) taken: Vec<ImportedBinding>,
    pub(super) expired: u64,
    pub(super) findings: Vec<Finding>,
}

/// Bindings that can still be used.
pub(super) fn bindings(
    row: &KebInstance,
    runtime: Option<Uuid>,
    theirs: Vec<Result<KebBinding, RowError>>,
    (cipher, now): (&Cipher, jiff::Timestamp),
) -> MappedBindings {
    let mut mapped = MappedBindings::default();
    for binding in theirs {
        let binding = match binding {
            Ok(binding) => binding,
            Err(error) => {
                mapped.findings.push(unreadable("binding", &error));
                continue;
            }
        };
        let expires_at = binding.expires_at.unwrap_or_default();
        if expires_at <= now {
            mapped.expired += 1;
            continue;
        }
        let opened = cipher.open(&binding.kubeconfig).ok().filter(|text| !text.is_empty());
        let (Some(runtime), Some(kubeconfig)) = (runtime, opened) else {
            let problem = match runtime {
                Some(_) => "it is not complete, or cannot be decrypted",
                None => "its instance has no runtime",
            };
            mapped.findings.push(Finding::new(
                format!("binding {} of {}", binding.id, subject(&row.instance_id)),
                problem,
                "have the platform bind again",
            ));
            continue;
        };
        mapped.taken.push(ImportedBinding {
            binding: binding.id,
            runtime,
            expiration_seconds: binding.expiration_seconds,
            credentials: kubeconfig.into_bytes(),
            created_at: binding.created_at.unwrap_or(now),
            expires_at,
        });
    }
    mapped
}
