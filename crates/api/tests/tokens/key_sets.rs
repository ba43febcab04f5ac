//! Sets of keys: how often they are read, for how long they serve, and from where they may come.

use std::time::Duration;

use api::auth::TokenRejection;
use jsonwebtoken::Algorithm;

use crate::{
    drafts::Draft,
    support::tokens::{KeyServer, NOW},
};

#[tokio::test]
async fn unknown_keys_refresh_the_key_set_at_most_once_a_minute() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let unknown =
        Draft::good(&server).header("kid", "new").signed(Algorithm::RS256, &server.rsa.private);

    for _ in 0..20 {
        assert!(matches!(verifier.verify(&unknown).await, Err(TokenRejection::Token(_))));
    }
    assert_eq!(server.asked(), 1);

    server.clock.advance(Duration::from_mins(1));
    for _ in 0..20 {
        assert!(verifier.verify(&unknown).await.is_err());
    }
    assert_eq!(server.asked(), 2);
}

#[tokio::test]
async fn kept_keys_serve_for_a_bounded_time_when_the_key_server_is_down() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let token = Draft::good(&server)
        .claim("exp", NOW + 90_000)
        .signed(Algorithm::RS256, &server.rsa.private);
    assert!(verifier.verify(&token).await.is_ok());

    server.go_down();
    server.clock.advance(Duration::from_mins(119));
    assert!(verifier.verify(&token).await.is_ok());

    server.clock.advance(Duration::from_mins(2));
    assert!(matches!(verifier.verify(&token).await, Err(TokenRejection::Unavailable(_))));

    server.come_back();
    server.clock.advance(Duration::from_secs(5));
    assert!(verifier.verify(&token).await.is_ok());
}

#[tokio::test]
async fn a_discovery_document_that_names_another_issuer_gives_no_keys() {
    let server = KeyServer::start_with(|mut document| {
        document["issuer"] = "https://issuer.example.test".into();
        document
    })
    .await;
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);

    let denied = server.verifier().verify(&token).await;

    assert!(matches!(denied, Err(TokenRejection::Unavailable(_))), "{denied:?}");
    assert_eq!(server.asked(), 0);
}

#[tokio::test]
async fn keys_are_not_fetched_without_tls_from_another_machine() {
    let server = KeyServer::start_with(|mut document| {
        document["jwks_uri"] = "http://keys.example.test/keys".into();
        document
    })
    .await;
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);

    let denied = server.verifier().verify(&token).await;

    assert!(matches!(denied, Err(TokenRejection::Unavailable(_))), "{denied:?}");
}
