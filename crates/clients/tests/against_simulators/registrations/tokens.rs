//! C4: tokens are kept, renewed once when they are refused, and shared by concurrent callers.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use clients::{Kind, edp::Tenant};
use std::time::Duration;

use super::{
    golden::{answer, issuer},
    support::{RecordedRequest, answering, noon},
    test_systems::TestSystems,
};

fn accepting_from(token: &'static str) -> impl Fn(usize, RecordedRequest) -> Response + Clone {
    move |_, heard| match heard.header("authorization") {
        Some(sent) if sent >= token => answer((200, r#"{"id":7}"#)),
        _ => StatusCode::UNAUTHORIZED.into_response(),
    }
}

#[tokio::test]
async fn a_token_is_asked_for_once_and_kept_until_it_runs_out() {
    let (issuer, asked) = issuer().await;
    let (systems, _) = answering(accepting_from("Bearer t1")).await;
    let clock = noon();
    let avs = TestSystems::new(systems, issuer, &clock).avs();

    for _ in 0..5 {
        avs.get(7).await.unwrap();
    }
    assert_eq!(asked.len(), 1);

    clock.advance(Duration::from_secs(600));
    avs.get(7).await.unwrap();
    assert_eq!(asked.len(), 2);
}

#[tokio::test]
async fn a_token_that_ends_early_is_renewed_once_for_all_who_call() {
    let (issuer, asked) = issuer().await;
    let (systems, heard) = answering(accepting_from("Bearer t2")).await;
    let avs = TestSystems::new(systems, issuer, &noon()).avs();

    let calls = futures::future::join_all((0..20).map(|_| avs.get(7))).await;

    assert!(calls.iter().all(Result::is_ok));
    assert_eq!(asked.len(), 2, "one at first, one for all twenty");
    assert!(heard.len() <= 40);
}

#[tokio::test]
async fn a_second_refusal_is_the_last_word() {
    let (issuer, asked) = issuer().await;
    let (systems, heard) = answering(|_, _| StatusCode::UNAUTHORIZED.into_response()).await;
    let place = TestSystems::new(systems, issuer, &noon());

    let avs = place.avs().get(7).await.unwrap_err();
    let edp = place.edp().delete_tenant(&Tenant::of_subaccount("a")).await.unwrap_err();

    assert_eq!((avs.kind, edp.kind), (Kind::Unauthorized, Kind::Unauthorized));
    assert_eq!((asked.len(), heard.len()), (4, 4));
    assert_eq!(avs.to_string(), "avs: reading evaluation 7: credentials not accepted");
}

#[tokio::test]
async fn trouble_with_the_issuer_is_the_issuers() {
    let (issuer, _) = answering(|_, _| StatusCode::BAD_GATEWAY.into_response()).await;
    let (systems, heard) = answering(accepting_from("")).await;

    let error = TestSystems::new(systems, issuer, &noon()).avs().get(7).await.unwrap_err();

    assert_eq!((error.component.0, error.kind), ("issuer", Kind::Unavailable));
    assert_eq!(heard.len(), 0);
}
