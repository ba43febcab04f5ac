//! Answers of a provisioner that are too large or too slow, and calls that are dropped.

use std::time::Duration;

use clients::{CallLimits, Kind};
use simulators::{
    ledger::Phase,
    trouble::{self},
};
use uuid::Uuid;

use super::{
    super::{
        call::Call,
        side::{HASTY, PATIENT, Side, run},
    },
    nobody,
};
use crate::service::SYSTEM;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_too_large_is_refused_and_its_order_is_found_again() {
    let side = Side::start().await;
    let small = CallLimits { body: 64, ..PATIENT };
    let (root, mut subject) = (Uuid::new_v4(), nobody());

    let order = Call::Provision;
    let refused = run(root, "Order", 1).scope(order.make(&side.client(small), &subject)).await;
    let begun = run(root, "Order", 2).scope(order.make(&side.client(PATIENT), &subject)).await;
    subject.operation = begun.unwrap().unwrap();
    subject.runtime = side.done(&subject.operation).await;

    assert_eq!(refused.unwrap_err().kind, Kind::Malformed);
    for call in [Call::OperationStatus, Call::RuntimeStatus, Call::UpgradeShoot] {
        let refused = call.make(&side.client(small), &subject).await.unwrap_err();
        assert_eq!(refused.kind, Kind::Malformed, "{call:?}");
        assert_eq!(refused.said.as_deref(), Some("the body is too large"), "{call:?}");
    }
    assert_eq!(side.in_director("registerRuntime"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_called_off_halfway_frees_its_turn_and_is_made_once() {
    let side = Side::start().await;
    let client = side.client(CallLimits { at_once: 1, ..PATIENT });
    let (root, subject) = (Uuid::new_v4(), nobody());
    // The provisioner is asking the Director when it is called off.
    side.outside.trouble("director", 1, trouble::Kind::Silent);
    let halfway = async {
        let asked = || side.lines(Some("director"), Some(Phase::Received)).len();
        while asked() == 0 {
            side.outside.clock.sleep(Duration::from_millis(5)).await;
        }
    };

    tokio::select! {
        answer = run(root, "Order", 1).scope(Call::Provision.make(&client, &subject)) => {
            panic!("it was not halfway: {answer:?}")
        }
        () = halfway => {}
    }
    let begun = run(root, "Order", 2).scope(Call::Provision.make(&client, &subject)).await;

    let begun = begun.unwrap().unwrap();
    side.done(&begun).await;
    assert_eq!(side.in_director("registerRuntime"), 1);
    assert_eq!(side.worked().into_iter().collect::<Vec<_>>(), [begun]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_answer_is_waited_for_and_one_that_is_too_slow_is_given_up() {
    let side = Side::start().await;
    let subject = side.made("c-1").await;
    let worked = side.worked();

    side.outside.trouble(SYSTEM, 1, trouble::Kind::Slow { delay_ms: 300 });
    let late = Call::RuntimeStatus.make(&side.client(PATIENT), &subject).await;
    side.outside.trouble(SYSTEM, 1, trouble::Kind::Slow { delay_ms: 3_600_000 });
    let given_up = Call::Deprovision.make(&side.client(HASTY), &subject).await;

    assert_eq!(late.unwrap(), Some(subject.operation));
    assert_eq!(given_up.unwrap_err().kind, Kind::AnswerLost);
    assert_eq!(side.worked(), worked, "nothing was delivered after it was given up");
}
