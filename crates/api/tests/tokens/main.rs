//! Forged and misdirected tokens against a verifier that trusts one issuer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod drafts;
mod fetching;
mod issuers;
mod key_sets;
#[path = "../support/mod.rs"]
mod support;

use api::auth::TokenRejection;
use jsonwebtoken::{Algorithm, EncodingKey, crypto::sign};
use serde_json::{Value, json};
use support::tokens::{AUDIENCE, KeyServer, NOW, Pair, encoded};

pub(crate) use drafts::Draft;

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
