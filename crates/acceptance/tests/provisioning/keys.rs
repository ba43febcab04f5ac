//! Idempotency keys of orders, as the provisioner is sent them.

use std::collections::BTreeSet;

use super::{updating, upgrading};
use crate::{orders::OrderSpec, outside::Outside, service::SYSTEM, test_broker::Broker};

/// Steps that order something, and the numbers that their orders had before calls had names.
const RELEASED: [(&str, usize); 4] = [
    ("Create_Runtime_Without_Kyma", 1),
    ("Upgrade_Shoot", 1),
    ("Upgrade_Cluster", 1),
    ("Remove_Runtime", 1),
];

#[tokio::test(flavor = "multi_thread")]
async fn orders_keep_the_keys_that_operations_in_flight_may_have_sent() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;

    let made = broker.provision(&outside, &OrderSpec::aws("keys")).await.succeeded();
    let change = updating::change_of_everything(made.order.clone());
    let changed = Box::pin(broker.update(change)).await.completed();
    let upgrade = upgrading::cluster(changed.order.clone());
    let upgraded = Box::pin(broker.upgrade_cluster(upgrade)).await.completed();
    let removed = broker.deprovision(&upgraded.order).await;

    let calls = outside.calls();
    let operations = [&made, &changed, &upgraded, &removed].map(|ended| ended.snapshot.id);
    for ((step, number), operation) in RELEASED.into_iter().zip(operations) {
        let ours = calls.iter().filter(|call| call.system == SYSTEM);
        let ours = ours.filter(|call| call.step.as_deref() == Some(step));
        let sent: BTreeSet<_> = ours.filter_map(|call| call.key.clone()).collect();
        assert_eq!(sent, BTreeSet::from([format!("{operation}/{step}/{number}")]));
    }
}
