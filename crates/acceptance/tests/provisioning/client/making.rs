//! Orders and removals: one runtime and one operation each, whatever happens to the calls.

use std::collections::BTreeSet;

use clients::director::Registration;

use super::{
    call::{Call, Subject, TENANT},
    expected::faults,
    side::{PATIENT, Side, operations},
};
use crate::service;

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_one_runtime_and_its_removal_one_operation_after_every_fault() {
    let side = Side::start().await;

    let trials = side
        .for_each_fault(|side, fault, name| async move {
            let mut subject = Subject { name, ..Subject::default() };
            let made = side.meet(Call::Provision, fault, &subject).await;
            subject.runtime = side.done(made.operation()).await;
            assert!(side.shoots().contains(&subject.name), "{fault:?}");
            let removed = side.meet(Call::Deprovision, fault, &subject).await;
            assert_eq!(side.done(removed.operation()).await, subject.runtime, "{fault:?}");
            vec![made, removed]
        })
        .await;

    side.judge(&trials);
    let orders = faults().count();
    assert_eq!(side.worked(), operations(&trials));
    assert_eq!(operations(&trials).len(), 2 * orders, "an operation is nobody else's");
    assert_eq!(side.in_director("registerRuntime"), orders);
    assert_eq!(side.in_director("unregisterRuntime"), orders);
    assert_eq!(side.shoots(), BTreeSet::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_that_is_registered_already_is_made_once_after_every_fault() {
    let side = Side::start().await;
    let outside = &side.outside;
    let director = service::director(&outside.running, &outside.clock, PATIENT);

    let trials = side
        .for_each_fault(|side, fault, name| {
            let director = director.clone();
            async move {
                let registration = Registration {
                    name: name.clone(),
                    description: None,
                    labels: serde_json::Map::new(),
                    condition: None,
                };
                let runtime = director.register(TENANT.id, &registration).await.unwrap();
                let subject = Subject { name, runtime, ..Subject::default() };
                let made = side.meet(Call::ProvisionRegistered, fault, &subject).await;
                assert_eq!(side.done(made.operation()).await, subject.runtime, "{fault:?}");
                vec![made]
            }
        })
        .await;

    side.judge(&trials);
    assert_eq!(side.worked(), operations(&trials));
    assert_eq!(side.in_director("registerRuntime"), faults().count(), "only those of the test");
    assert_eq!(side.shoots().len(), faults().count());
}
