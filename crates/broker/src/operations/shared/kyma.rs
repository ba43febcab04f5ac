//! How a Kyma resource, and the Secret with its kubeconfig, are called and marked.

use clients::lifecycle_manager::{
    DOMAIN_ANNOTATION, INSTANCE_LABEL, KYMA_NAME_LABEL, MANAGED_BY_LABEL, Marks, RUNTIME_LABEL,
};

use crate::{Details, Order};

const PLAN_ID_LABEL: &str = "kyma-project.io/broker-plan-id";
const PLAN_NAME_LABEL: &str = "kyma-project.io/broker-plan-name";
const ACCOUNT_LABEL: &str = "kyma-project.io/global-account-id";
const MANAGER: &str = "lifecycle-manager";

/// The name: the one that was kept, or the runtime's.
pub(in crate::operations) fn name(details: &Details) -> Option<String> {
    let runtime = || details.runtime_id.map(|id| id.to_string());
    details.kyma_name.clone().or_else(runtime)
}

/// Its labels and annotations.
pub(in crate::operations) fn marks(order: &Order, details: &Details, name: &str) -> Marks {
    let runtime = details.runtime_id.map(|id| id.to_string()).unwrap_or_default();
    let labels = [
        (INSTANCE_LABEL, order.instance_id.as_str()),
        (RUNTIME_LABEL, &runtime),
        (PLAN_ID_LABEL, &order.plan_id),
        (PLAN_NAME_LABEL, &order.plan_name),
        (ACCOUNT_LABEL, &order.context.globalaccount_id),
        (KYMA_NAME_LABEL, name),
        (MANAGED_BY_LABEL, MANAGER),
    ];
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    Marks {
        labels: labels.map(owned).into(),
        annotations: [owned((DOMAIN_ANNOTATION, &order.shoot_domain))].into(),
    }
}
