//! A provisioner that is down or gone, as its client sees it.

mod answers;
mod credentials;

use std::time::Duration;

use base::failure::StepError;
use clients::{Component, Kind};
use simulators::{
    ledger::Phase,
    trouble::{self, Rule},
};
use tokio::net::TcpStream;
use uuid::Uuid;

use super::{
    call::{Call, Subject},
    side::{HASTY, PATIENT, Side},
};
use crate::service::SYSTEM;

fn nobody() -> Subject {
    let id = Uuid::new_v4().to_string();
    Subject { name: "c-1".into(), runtime: id.clone(), operation: id }
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
