//! What was last sent for a runtime, in the form that our own steps write it.

use clients::reconciler;
use serde_json::{Map, Value, json};
use store::{
    broker::{ImportedBinding, ImportedState},
    import::{Cipher, ClusterSetup, Finding, KebBinding, KebInstance, RowError},
};
use uuid::Uuid;

use super::subject;
use crate::Order;

/// What was last sent, and what of it cannot be taken over.
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

/// Bindings that can still be used.
pub(super) fn bindings(
    row: &KebInstance,
    runtime: Uuid,
    theirs: Vec<Result<KebBinding, RowError>>,
    (cipher, now): (&Cipher, jiff::Timestamp),
) -> (Vec<ImportedBinding>, Vec<Finding>) {
    let (mut taken, mut findings) = (Vec::new(), Vec::new());
    for binding in theirs.into_iter().flatten() {
        let expires_at = binding.expires_at.unwrap_or_default();
        if expires_at <= now {
            continue;
        }
        let opened = cipher.open(&binding.kubeconfig).ok().filter(|text| !text.is_empty());
        let Some(kubeconfig) = opened else {
            findings.push(Finding::new(
                format!("binding {} of {}", binding.id, subject(&row.instance_id)),
                "it is not complete, or cannot be decrypted",
                "have the platform bind again",
            ));
            continue;
        };
        taken.push(ImportedBinding {
            binding: binding.id,
            runtime,
            expiration_seconds: binding.expiration_seconds,
            credentials: kubeconfig.into_bytes(),
            created_at: binding.created_at.unwrap_or(now),
            expires_at,
        });
    }
    (taken, findings)
}
