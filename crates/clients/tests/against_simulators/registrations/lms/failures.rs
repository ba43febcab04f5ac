//! Failures of LMS: lost answers, spoilt certificates, callbacks and gateways.

use std::time::Duration;

use axum::response::IntoResponse;
use clients::{Kind, lms::CertificateRequest};
use simulators::trouble;

use super::super::{
    golden,
    support::answering,
    world::{World, lost, off, on},
};

#[tokio::test]
async fn a_request_that_was_tampered_with_is_refused() {
    let world = World::new().await;
    let lms = world.place().lms();
    let id = lms.create_tenant("ga-1", "eu").await.unwrap();
    let wanted = CertificateRequest::new("ga-1", "unit").unwrap();
    let middle = wanted.csr.len() / 2;
    let letter = if &wanted.csr[middle..=middle] == "A" { "B" } else { "A" };
    let tampered = format!("{}{letter}{}", &wanted.csr[..middle], &wanted.csr[middle + 1..]);

    for csr in ["", "no request", tampered.as_str()] {
        let error = lms.request_certificate(&id, csr).await.unwrap_err();
        assert_eq!(error.kind, Kind::Refused { status: 400 });
    }
}

#[tokio::test]
async fn a_lost_answer_is_told_as_such_for_another_try_makes_another_tenant() {
    let world = World::new().await;
    let lms = world.place().lms();
    world.trouble("lms", 1, lost());

    let error = lms.create_tenant("ga-1", "eu").await.unwrap_err();

    assert_eq!(error.kind, Kind::AnswerLost);
    assert_eq!(world.received("lms").len(), 1, "the client does not try again by itself");
    assert_eq!(world.objects("lms", "tenant").await.len(), 1);
}

#[tokio::test]
async fn what_never_comes_is_never_there_and_what_is_spoilt_is_not_taken() {
    let world = World::new().await;
    let lms = world.place().lms();
    world.order("lms", "never-ready", on()).await;
    world.order("lms", "withhold-certificates", on()).await;
    let id = lms.create_tenant("ga-1", "eu").await.unwrap();
    let wanted = CertificateRequest::new("ga-1", "unit").unwrap();
    let callback = lms.request_certificate(&id, &wanted.csr).await.unwrap();
    world.clock.advance(Duration::from_hours(1));

    assert!(!lms.readiness(&id).await.unwrap().is_ready());
    assert_eq!(lms.signed_certificate(&callback).await.unwrap(), None);
    assert_eq!(lms.authority(&id).await.unwrap(), None);

    world.order("lms", "withhold-certificates", off()).await;
    world.order("lms", "spoil-certificates", on()).await;
    let spoilt = lms.signed_certificate(&callback).await.unwrap_err();
    assert_eq!(spoilt.kind, Kind::Malformed);
    assert_eq!(spoilt.said.as_deref(), Some("field cert is no certificate"));
    assert_eq!(lms.authority(&id).await.unwrap_err().kind, Kind::Malformed);
}

#[tokio::test]
async fn a_callback_to_nowhere_is_worth_another_try() {
    let world = World::new().await;
    world.order("lms", "dead-callback", on()).await;
    let lms = world.place().lms();
    let id = lms.create_tenant("ga-1", "eu").await.unwrap();
    let wanted = CertificateRequest::new("ga-1", "unit").unwrap();

    let callback = lms.request_certificate(&id, &wanted.csr).await.unwrap();

    let error = lms.signed_certificate(&callback).await.unwrap_err();
    assert_eq!((error.component.0, error.kind), ("lms", Kind::Unavailable));
}

#[tokio::test]
async fn a_gateway_that_answers_html_is_worth_another_try() {
    let world = World::new().await;
    let lms = world.place().lms();
    let page = |status| trouble::Kind::Status { status, body: None };

    for status in [500, 502, 503] {
        world.trouble("lms", 1, page(status));
        assert_eq!(lms.create_tenant("ga-1", "eu").await.unwrap_err().kind, Kind::Unavailable);
    }
    let (systems, _) = answering(|_, _| "<html>".into_response()).await;
    let place = super::super::test_systems::TestSystems { systems, ..world.place() };
    assert_eq!(place.lms().create_tenant("ga", "eu").await.unwrap_err().kind, Kind::Malformed);
    let (systems, _) = answering(|_, _| golden::answer((200, r#"{"id":""}"#))).await;
    let place = super::super::test_systems::TestSystems { systems, ..world.place() };
    assert_eq!(place.lms().create_tenant("ga", "eu").await.unwrap_err().kind, Kind::Malformed);
}
