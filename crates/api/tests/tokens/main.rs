//! Forged, stale and misdirected tokens against a verifier that trusts one issuer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod issuers;
#[path = "../support/mod.rs"]
mod support;

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use api::auth::TokenRejection;
use futures::future::join_all;
use jsonwebtoken::{Algorithm, EncodingKey, crypto::sign};
use serde_json::{Value, json};
use support::tokens::{AUDIENCE, KeyServer, NOW, Pair, encoded};

/// A token under construction; each row of the table spoils one thing.
#[derive(Clone)]
pub(crate) struct Draft {
    header: Value,
    claims: Value,
}

impl Draft {
    pub(crate) fn good(server: &KeyServer) -> Self {
        Self {
            header: json!({"alg": "RS256", "typ": "JWT", "kid": "rsa"}),
            claims: json!({
                "iss": server.url, "sub": "admin", "aud": [AUDIENCE],
                "exp": NOW + 3600, "nbf": NOW, "iat": NOW, "scp": ["operations:read"],
            }),
        }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.header[name] = value.into();
        self
    }

    pub(crate) fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.claims[name] = value.into();
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.claims.as_object_mut().unwrap().remove(name);
        self.header.as_object_mut().unwrap().remove(name);
        self
    }

    fn message(&self) -> String {
        format!("{}.{}", encoded(self.header.to_string()), encoded(self.claims.to_string()))
    }

    pub(crate) fn signed(&self, algorithm: Algorithm, key: &EncodingKey) -> String {
        let message = self.message();
        format!("{message}.{}", sign(message.as_bytes(), key, algorithm).unwrap())
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one table, one line per forgery")]
async fn no_forged_token_opens_a_door() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let own = &server.rsa.private;
    let other = Pair::rsa();
    let rs = |draft: Draft| draft.signed(Algorithm::RS256, own);
    let good = || Draft::good(&server);
    let valid = rs(good());
    let parts: Vec<&str> = valid.split('.').collect();
    let public_pem = EncodingKey::from_secret(server.rsa.public_der.as_slice());
    let public_jwk = EncodingKey::from_secret(server.rsa.jwk.to_string().as_bytes());
    let twice = format!(
        "{}.{}",
        encoded(good().header.to_string()),
        encoded(format!("{{\"sub\":\"root\",{}", &good().claims.to_string()[1..]))
    );
    let mut flipped = parts[2].as_bytes().to_vec();
    flipped[10] = if flipped[10] == b'A' { b'B' } else { b'A' };

    let forged: Vec<(&str, String)> = vec![
        ("alg none without a signature", format!("{}.", good().header("alg", "none").message())),
        ("alg None with a signature", good().header("alg", "None").signed(Algorithm::RS256, own)),
        (
            "HS256 with the public key",
            good().header("alg", "HS256").signed(Algorithm::HS256, &public_pem),
        ),
        (
            "HS256 with the published key",
            good().header("alg", "HS256").signed(Algorithm::HS256, &public_jwk),
        ),
        (
            "HS512 with an empty secret",
            good().header("alg", "HS512").signed(Algorithm::HS512, &EncodingKey::from_secret(b"")),
        ),
        (
            "a symmetric key in the key set",
            good()
                .header("alg", "HS256")
                .header("kid", "oct")
                .signed(Algorithm::HS256, &EncodingKey::from_secret(b"published")),
        ),
        (
            "ES256 under an RSA key's id",
            good().header("alg", "ES256").signed(Algorithm::ES256, &server.ec.private),
        ),
        ("RS256 under an EC key's id", rs(good().header("kid", "ec"))),
        (
            "RS512 with a key for RS256 only",
            good().header("alg", "RS512").signed(Algorithm::RS512, own),
        ),
        ("a key meant for encryption", rs(good().header("kid", "enc"))),
        ("another key", good().signed(Algorithm::RS256, &other.private)),
        (
            "another key under an unknown id",
            good().header("kid", "new").signed(Algorithm::RS256, &other.private),
        ),
        (
            "another key, sent along",
            good().header("jwk", other.jwk.clone()).signed(Algorithm::RS256, &other.private),
        ),
        (
            "another key behind jku",
            good()
                .header("jku", "http://127.0.0.1:1/keys")
                .signed(Algorithm::RS256, &other.private),
        ),
        (
            "another key behind x5u",
            good()
                .header("x5u", "http://127.0.0.1:1/keys")
                .signed(Algorithm::RS256, &other.private),
        ),
        ("no key id", rs(good().without("kid"))),
        ("no algorithm", rs(good().without("alg"))),
        ("critical extensions", rs(good().header("crit", json!(["b64"])))),
        ("a logout token", rs(good().header("typ", "logout+jwt"))),
        ("a proof of possession", rs(good().header("typ", "dpop+jwt"))),
        ("a refresh token", rs(good().claim("typ", "Refresh"))),
        ("another issuer", rs(good().claim("iss", "https://issuer.example"))),
        ("the issuer with a slash more", rs(good().claim("iss", format!("{}/", server.url)))),
        ("no issuer", rs(good().without("iss"))),
        ("another audience", rs(good().claim("aud", json!(["somebody"])))),
        (
            "an audience that only contains ours",
            rs(good().claim("aud", format!("{AUDIENCE}-test"))),
        ),
        ("an empty audience", rs(good().claim("aud", json!([])))),
        ("no audience", rs(good().without("aud"))),
        ("expired", rs(good().claim("exp", NOW - 61))),
        ("no expiry", rs(good().without("exp"))),
        ("an expiry in words", rs(good().claim("exp", "tomorrow"))),
        ("an expiry of null", rs(good().claim("exp", Value::Null))),
        ("not yet valid", rs(good().claim("nbf", NOW + 61))),
        ("issued in the future", rs(good().claim("iat", NOW + 61))),
        ("no subject", rs(good().without("sub"))),
        ("an empty subject", rs(good().claim("sub", ""))),
        ("an empty tenant", rs(good().claim("tenant", ""))),
        ("a tenant of blanks", rs(good().claim("tenant", " "))),
        (
            "changed claims under the old signature",
            format!("{}.{}", good().claim("sub", "root").message(), parts[2]),
        ),
        ("a subject given twice", {
            let s = sign(twice.as_bytes(), own, Algorithm::RS256).unwrap();
            format!("{twice}.{s}")
        }),
        (
            "a changed signature",
            format!("{}.{}.{}", parts[0], parts[1], String::from_utf8(flipped).unwrap()),
        ),
        ("a signature cut short", valid[..valid.len() - 8].to_owned()),
        ("no signature", format!("{}.{}.", parts[0], parts[1])),
        ("two parts", format!("{}.{}", parts[0], parts[1])),
        ("four parts", format!("{valid}.{}", parts[2])),
        ("five parts, as if encrypted", format!("{valid}.a.b")),
        ("nothing", String::new()),
        ("garbage", "a.b.c".into()),
        ("a header that is not JSON", format!("{}.{}.{}", encoded("x"), parts[1], parts[2])),
        ("claims that are not JSON", {
            let m = format!("{}.{}", parts[0], encoded("x"));
            format!("{m}.{}", sign(m.as_bytes(), own, Algorithm::RS256).unwrap())
        }),
        ("a token that is too long", rs(good().claim("padding", "x".repeat(20_000)))),
    ];

    assert!(verifier.verify(&valid).await.is_ok(), "the untouched token is accepted");
    assert!(forged.len() >= 30);
    for (forgery, token) in forged {
        let denied = verifier.verify(&token).await;
        assert!(
            matches!(denied, Err(TokenRejection::Token(_) | TokenRejection::Signature(_))),
            "{forgery} was answered with {denied:?}"
        );
    }
}

#[tokio::test]
async fn good_tokens_of_each_kind_are_accepted() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let good = || Draft::good(&server);
    let own = &server.rsa.private;

    let accepted = [
        good().signed(Algorithm::RS256, own),
        good().header("typ", "at+jwt").signed(Algorithm::RS256, own),
        good().without("typ").signed(Algorithm::RS256, own),
        good().claim("aud", AUDIENCE).signed(Algorithm::RS256, own),
        good().claim("exp", NOW - 10).signed(Algorithm::RS256, own),
        good()
            .header("kid", "ec")
            .header("alg", "ES256")
            .signed(Algorithm::ES256, &server.ec.private),
        good().without("scp").claim("scope", "a operations:read").signed(Algorithm::RS256, own),
    ];

    for (number, token) in accepted.iter().enumerate() {
        let principal =
            verifier.verify(token).await.unwrap_or_else(|why| panic!("{number}: {why:?}"));
        assert_eq!(principal.subject, "admin");
        assert!(principal.scopes.contains("operations:read"));
    }
}

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

/// Polls a future so many times and drops it; tells whether it was ready by then.
async fn dropped_after(polls: usize, future: impl Future) -> bool {
    let (mut future, mut left) = (pin!(future), polls);
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_client_that_hangs_up_during_the_key_fetch_locks_nobody_out() {
    let server = KeyServer::start().await;
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);

    for polls in 0.. {
        let verifier = server.verifier();
        let asked = server.asked();
        let ready = dropped_after(polls, verifier.verify(&token)).await;

        let next = verifier.verify(&token).await;
        assert!(next.is_ok(), "hung up after {polls} polls: {next:?}");
        assert_eq!(server.asked(), asked + 1, "hung up after {polls} polls");
        if ready {
            assert!(polls > 1, "the fetch was waited for");
            break;
        }
    }
}

#[tokio::test]
async fn clients_that_keep_hanging_up_do_not_make_the_key_server_look_dead() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);
    server.hold();

    for _ in 0..100 {
        dropped_after(1, verifier.verify(&token)).await;
    }
    let (good, ()) = tokio::join!(verifier.verify(&token), async {
        server.asked_times(1).await;
        server.release();
    });

    assert!(good.is_ok(), "{good:?}");
    assert_eq!(server.asked(), 1);
}

#[tokio::test]
async fn all_who_wait_for_a_dead_key_server_wait_for_the_same_fetch() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);
    server.hold();
    server.go_down();

    let waiting = join_all((0..50).map(|_| verifier.verify(&token)));
    let (answers, ()) = tokio::join!(waiting, async {
        server.asked_times(1).await;
        server.release();
    });

    assert!(answers.iter().all(|answer| matches!(answer, Err(TokenRejection::Unavailable(_)))));
    assert_eq!(server.asked(), 1);
    assert!(matches!(verifier.verify(&token).await, Err(TokenRejection::Unavailable(_))));
    assert_eq!(server.asked(), 1, "a failure counts for five seconds");
}

#[tokio::test]
async fn requests_with_a_known_key_do_not_wait_for_a_refresh_of_another_request() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);
    assert!(verifier.verify(&token).await.is_ok());
    server.clock.advance(Duration::from_mins(11));
    server.hold();

    dropped_after(1, verifier.verify(&token)).await;
    assert!(verifier.verify(&token).await.is_ok());

    server.asked_times(2).await;
    server.release();
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
