//! A provisioner that is down, gone, refuses our credentials or says too much; calls that are called off.

use std::time::Duration;

use base::failure::StepError;
use clients::{CallLimits, Component, Kind};
use simulators::{
    ledger::Phase,
    trouble::{self, Rule},
};
use tokio::{net::TcpStream, task::JoinSet};
use uuid::Uuid;

use super::{
    call::{Call, Subject},
    side::{HASTY, PATIENT, Side, run},
};
use crate::service::SYSTEM;

fn nobody() -> Subject {
    let id = Uuid::new_v4().to_string();
    Subject { name: "c-1".into(), runtime: id.clone(), operation: id }
}

/// How often a token was asked for.
fn tokens(side: &Side) -> usize {
    let asked = side.lines(Some("issuer"), Some(Phase::Received)).into_iter();
    asked.filter(|line| line.about.route == "/oauth2/token").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn while_it_is_down_every_call_is_worth_another_try_and_nothing_begins() {
    let side = Side::start().await;
    let until = "9999-01-01T00:00:00Z".parse().unwrap();

    for (refuse, kind) in [(false, Kind::Unavailable), (true, Kind::AnswerLost)] {
        side.outside.meet(Rule::until(until, trouble::Kind::Down { refuse }).of(SYSTEM));
        for call in Call::ALL {
            let failed = call.make(&side.client(PATIENT), &nobody()).await.unwrap_err();
            assert_eq!((failed.kind, failed.component), (kind, Component::PROVISIONER), "{call:?}");
            assert!(matches!(StepError::from(failed), StepError::Transient { .. }), "{call:?}");
        }
        side.outside.calm();
    }

    assert_eq!(side.in_director("registerRuntime"), 0);
    side.client(PATIENT).check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn after_five_failures_it_is_left_alone_for_a_while() {
    let side = Side::start().await;
    side.outside.trouble(SYSTEM, 5, trouble::Kind::Down { refuse: false });
    let client = side.client(PATIENT);
    for _ in 0..5 {
        client.check().await.unwrap_err();
    }

    let paused = client.check().await.unwrap_err();

    assert!(matches!(paused.kind, Kind::Paused { .. }), "{paused:?}");
    assert_eq!(side.lines(Some(SYSTEM), Some(Phase::Received)).len(), 5);
    // Another process has not seen it fail.
    side.client(PATIENT).check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn when_nobody_listens_nothing_can_have_been_done() {
    let side = Side::start().await;
    let clients = Call::ALL.map(|call| (call, side.client(HASTY)));
    let address = side.outside.service.url.socket_addrs(|| None).unwrap()[0];
    let clock = side.outside.clock.clone();
    let outside = std::sync::Arc::into_inner(side).unwrap().outside;

    drop(outside.service);
    while TcpStream::connect(address).await.is_ok() {
        clock.sleep(Duration::from_millis(5)).await;
    }

    for (call, client) in clients {
        let failed = call.make(&client, &nobody()).await.unwrap_err();
        assert_eq!(failed.kind, Kind::Unavailable, "{call:?}: {failed:?}");
        assert_eq!(failed.component, Component::PROVISIONER, "{call:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_stay_refused_are_renewed_once_and_then_told_of() {
    let side = Side::start().await;

    for call in Call::ALL {
        let client = side.client(PATIENT);
        side.outside.trouble(SYSTEM, 2, trouble::Kind::Status { status: 401, body: None });
        let (before, sent) = (tokens(&side), side.lines(Some(SYSTEM), Some(Phase::Received)).len());

        let refused = call.make(&client, &nobody()).await.unwrap_err();

        assert_eq!(refused.kind, Kind::Unauthorized, "{call:?}: {refused:?}");
        assert!(refused.kind.is_retryable());
        assert_eq!(tokens(&side), before + 2, "{call:?}");
        assert_eq!(side.lines(Some(SYSTEM), Some(Phase::Received)).len(), sent + 2, "{call:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_at_once_share_a_token_and_a_refused_one_is_replaced_by_one() {
    let side = Side::start().await;
    let subject = side.made("c-1").await;
    let (client, before) = (side.client(PATIENT), tokens(&side));
    let all_at_once = async || {
        let mut tasks = JoinSet::new();
        for _ in 0..20 {
            let (client, subject) = (client.clone(), subject.clone());
            tasks.spawn(async move { Call::OperationStatus.make(&client, &subject).await });
        }
        tasks.join_all().await.into_iter().all(|answer| answer.is_ok())
    };

    let first = all_at_once().await;
    let shared = tokens(&side);
    side.outside.trouble(SYSTEM, 1, trouble::Kind::Status { status: 401, body: None });
    let renewed = Call::OperationStatus.make(&client, &subject).await;
    let second = all_at_once().await;

    assert!(first && second && renewed.is_ok(), "{renewed:?}");
    assert_eq!((shared, tokens(&side)), (before + 1, before + 2));
}

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
