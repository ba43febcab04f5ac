//! Tokens for a provisioner that refuses them.

use clients::Kind;
use simulators::{
    ledger::Phase,
    trouble::{self},
};
use tokio::task::JoinSet;

use super::{
    super::{
        call::Call,
        side::{PATIENT, Side},
    },
    nobody,
};
use crate::service::SYSTEM;

/// How often a token was asked for.
fn tokens(side: &Side) -> usize {
    let asked = side.lines(Some("issuer"), Some(Phase::Received)).into_iter();
    asked.filter(|line| line.about.route == "/oauth2/token").count()
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
