//! Changes and upgrades of clusters wait for the provisioner's operation without polling: its end wakes them.

use std::time::Duration;

use engine::{
    OperationId, State, Storage,
    storage::{Outcome, Snapshot},
};
use simulators::trouble::{Kind, Rule};

use crate::{
    orders::OrderSpec,
    outside::Outside,
    test_broker::{Broker, EndedOperation},
    updating::change_of_everything,
    upgrading::cluster,
};

const STEP: &str = "Check_Runtime";

/// Until an operation waits for the provisioner's in a way.
async fn until_waiting(broker: &Broker, id: OperationId, so: impl Fn(&Snapshot) -> bool) {
    let waiting = async {
        loop {
            let snapshot = broker.engine.storage().read(id).await.unwrap().unwrap();
            assert!(!snapshot.state.is_final(), "{snapshot:?}");
            let waits = snapshot.step.as_deref() == Some(STEP) && snapshot.waiting_since.is_some();
            if waits && so(&snapshot) {
                return;
            }
            broker.clock.sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(5), waiting).await.expect("it does not wait");
}

/// Carries out an operation whose change Gardener takes only once the broker waits for it, and would wait for minutes.
async fn woken(mark: &str, begin: impl AsyncFnOnce(&Broker, EndedOperation) -> OperationId) {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws(mark)).await.succeeded();
    let down = Kind::Status { status: 503, body: None };
    outside.meet(Rule::next(1_000_000, down).of("gardener").from_step("Update_Shoot"));
    let id = begin(&broker, made).await;
    until_waiting(&broker, id, |_| true).await;

    let broker = Box::pin(broker.killed_and_following(&outside)).await;
    let far = broker.clock.now() + Duration::from_secs(60);
    until_waiting(&broker, id, |snapshot| snapshot.due_at.is_some_and(|due| due > far)).await;
    outside.calm();

    assert_eq!(broker.end_of(id).await.state, State::Succeeded);
    let journal = broker.engine.storage().journal(id).await.unwrap();
    let of_step = journal.iter().filter(|entry| entry.step.as_deref() == Some(STEP));
    let [.., waited, last] = &of_step.collect::<Vec<_>>()[..] else { panic!("{journal:#?}") };
    assert_eq!(waited.outcome, Some(Outcome::Wait), "{journal:#?}");
    assert!(last.ended_at < waited.next_at.unwrap(), "it was polled: {waited:#?} {last:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_woken_by_the_end_of_the_provisioners_operation() {
    let begin = async |broker: &Broker, made: EndedOperation| {
        Box::pin(broker.begin_update(change_of_everything(made.order))).await
    };
    Box::pin(woken("woken-change", begin)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_of_a_cluster_is_woken_by_the_end_of_the_provisioners_operation() {
    let begin = async |broker: &Broker, made: EndedOperation| {
        Box::pin(broker.begin_upgrade_cluster(cluster(made.order))).await
    };
    Box::pin(woken("woken-upgrade", begin)).await;
}
