//! Logging as a service as a whole: a tenant, its readiness, its certificates.

use std::{sync::Arc, time::Duration};

use axum::response::IntoResponse;
use clients::{Kind, lms::CertificateRequest};
use rustls::{
    RootCertStore,
    crypto::aws_lc_rs::sign::any_supported_type,
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::WebPkiClientVerifier,
    sign::CertifiedKey,
};
use secrecy::ExposeSecret;
use simulators::trouble;

use super::{
    golden,
    support::answering,
    world::{World, lost, off, on},
};

#[tokio::test]
async fn a_tenant_comes_up_and_gives_certificates_when_their_time_has_come() {
    let world = World::new().await;
    let lms = world.place().lms();
    let id = lms.create_tenant("ga-1", &lms.region(Some("eastus"))).await.unwrap();
    let wanted = CertificateRequest::new("ga-1", "unit").unwrap();

    assert!(!lms.readiness(&id).await.unwrap().elasticsearch_resolves);
    world.clock.advance(Duration::from_secs(2));
    let half = lms.readiness(&id).await.unwrap();
    assert!(half.elasticsearch_resolves && !half.is_ready());
    world.clock.advance(Duration::from_secs(2));
    assert!(lms.readiness(&id).await.unwrap().is_ready());

    let info = lms.tenant(&id).await.unwrap();
    assert_eq!(info.forward_host(), "forward.ga1.us.lms.example.com");
    assert_eq!(info.kibana_url(), "https://kibana.ga1.us.lms.example.com");
    let callback = lms.request_certificate(&id, &wanted.csr).await.unwrap();
    assert_eq!(lms.signed_certificate(&callback).await.unwrap(), None);
    assert_eq!(lms.authority(&id).await.unwrap(), None);
    world.clock.advance(Duration::from_secs(2));
    let signed = lms.signed_certificate(&callback).await.unwrap().unwrap();
    let authority = lms.authority(&id).await.unwrap().unwrap();
    assert!(fits(&signed, &wanted, &authority));
    assert!(!fits(&signed, &CertificateRequest::new("ga-1", "unit").unwrap(), &authority));
    assert_eq!(lms.signed_certificate(&callback).await.unwrap(), Some(signed));
    let tenant = &world.objects("lms", "tenant").await[0]["value"];
    assert_eq!(tenant["global_account"], "ga-1");
}

/// Whether a certificate is for this key and comes from this authority, at noon.
fn fits(signed: &str, wanted: &CertificateRequest, authority: &str) -> bool {
    let certificate = CertificateDer::from_pem_slice(signed.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(wanted.key.expose_secret().as_bytes()).unwrap();
    let key = any_supported_type(&key).unwrap();
    let mut trusted = RootCertStore::empty();
    trusted.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(trusted.into(), provider);
    let now = UnixTime::since_unix_epoch(Duration::from_secs(1_767_268_800 + 60));
    let trusted = verifier.build().unwrap().verify_client_cert(&certificate, &[], now).is_ok();
    CertifiedKey::new(vec![certificate], key).keys_match().is_ok() && trusted
}

#[tokio::test]
async fn a_key_is_fresh_for_everybody_and_is_not_printed() {
    let one = CertificateRequest::new("ga-1", "unit").unwrap();
    let other = CertificateRequest::new("ga-1", "unit").unwrap();

    assert_ne!(one.key.expose_secret(), other.key.expose_secret());
    assert!(one.csr.starts_with("-----BEGIN CERTIFICATE REQUEST-----"));
    assert!(!format!("{one:?}").contains("PRIVATE"));
}

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
async fn the_token_goes_to_the_service_and_to_nobody_else() {
    let world = World::new().await;
    let certificate = r#"{"cert":"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----"}"#;
    let (elsewhere, heard) = answering(move |_, _| golden::answer((200, certificate))).await;
    let lms = world.place().lms();

    let callback = elsewhere.join("/lms/certificates/1?x=y").unwrap();
    assert!(lms.signed_certificate(&callback).await.unwrap().is_some());

    let heard = heard.last();
    assert_eq!((heard.path.as_str(), heard.query.as_str()), ("/lms/certificates/1", "x=y"));
    assert_eq!(heard.header("x-lms-token"), None);
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
    let place = super::test_systems::TestSystems { systems, ..world.place() };
    assert_eq!(place.lms().create_tenant("ga", "eu").await.unwrap_err().kind, Kind::Malformed);
    let (systems, _) = answering(|_, _| golden::answer((200, r#"{"id":""}"#))).await;
    let place = super::test_systems::TestSystems { systems, ..world.place() };
    assert_eq!(place.lms().create_tenant("ga", "eu").await.unwrap_err().kind, Kind::Malformed);
}
