//! Changes of a runtime: one operation each, whatever happens to the calls.

use super::{
    call::{Call, NODES, TENANT, VERSIONS},
    side::{PATIENT, Side, operations},
};

const CHANGES: [Call; 4] = [Call::UpgradeShoot, Call::Upgrade, Call::Reconnect, Call::Hibernate];

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_one_operation_after_every_fault() {
    let side = Side::start().await;

    let trials = side
        .for_each_fault(|side, fault, name| async move {
            let subject = side.made(&name).await;
            let mut trials = Vec::new();
            for change in CHANGES {
                let changed = side.meet(change, fault, &subject).await;
                assert_eq!(side.done(changed.operation()).await, subject.runtime);
                let newest = Call::RuntimeStatus.make(&side.client(PATIENT), &subject).await;
                assert_eq!(newest.unwrap().as_deref(), Some(changed.operation()), "{fault:?}");
                trials.push(changed);
            }
            let status = side.client(PATIENT).runtime_status(TENANT, &subject.runtime).await;
            let status = status.unwrap();
            let cluster = status.cluster().unwrap();
            assert_eq!(cluster.kubernetes_version.as_deref(), Some(VERSIONS[1]), "{fault:?}");
            assert_eq!(cluster.auto_scaler_max, Some(NODES), "{fault:?}");
            assert_eq!(status.hibernated(), Some(true), "{fault:?}");
            trials
        })
        .await;

    side.judge(&trials);
    let changes = operations(&trials);
    assert_eq!(changes.len(), trials.len(), "an operation is nobody else's");
    let worked = side.worked();
    assert!(worked.is_superset(&changes), "{changes:?}");
    // Besides the changes every runtime was made.
    assert_eq!(worked.len(), trials.len() + trials.len() / CHANGES.len());
}
