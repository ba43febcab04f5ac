//! LMS as a whole: a tenant, its readiness, its certificates.

mod failures;

use std::{sync::Arc, time::Duration};

use clients::lms::CertificateRequest;
use rustls::{
    RootCertStore,
    crypto::aws_lc_rs::sign::any_supported_type,
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::WebPkiClientVerifier,
    sign::CertifiedKey,
};
use secrecy::ExposeSecret;

use super::{golden, support::answering, world::World};

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
