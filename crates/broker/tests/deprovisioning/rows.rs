//! The broker's rows.

use broker::{Details, Order};
use store::broker::NewInstance;

/// The row of an instance; `details` is what the last finished operation knew.
pub(crate) fn row(order: &Order, details: Option<&Details>) -> NewInstance {
    NewInstance {
        id: order.instance_id.clone(),
        global_account: order.context.globalaccount_id.clone(),
        subaccount: order.context.subaccount_id.clone(),
        service_id: order.service_id.clone(),
        plan_id: order.plan_id.clone(),
        plan_name: order.plan_name.clone(),
        provider: order.resolved.provider_word().into(),
        region: order.resolved.region_word().into(),
        platform_region: order.platform_region.clone(),
        shoot_name: order.shoot_name.clone(),
        dashboard_url: order.dashboard_url.clone(),
        order: serde_json::to_vec(order).unwrap(),
        details: details.map(|details| serde_json::to_vec(details).unwrap()),
    }
}
