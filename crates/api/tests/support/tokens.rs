//! Keys, a key server that can go down, and a verifier that trusts it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use api::{TrustedIssuer, Verifier};
use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der},
    rsa::{KeyPair as RsaPair, KeySize},
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use axum::{Json, Router, http::StatusCode, response::IntoResponse, routing::get};
use base::{Clock, PlaintextHosts};
use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, EncodingKey, jwk::Jwk};
use serde_json::{Value, json};
use tokio::sync::watch;

/// The audience of good tokens.
pub const AUDIENCE: &str = "kcp";
/// The time at which the tests begin.
pub const NOW: i64 = 1_767_268_800;

/// A part of a token.
pub fn encoded(part: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(part)
}

/// A key and its public half.
#[derive(Clone)]
pub struct Pair {
    pub private: EncodingKey,
    pub jwk: Value,
    pub public_der: Vec<u8>,
}

fn pem(der: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(der);
    format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
}

impl Pair {
    /// The key of all issuers of this process: making one takes long.
    fn shared() -> Self {
        static MADE: LazyLock<Pair> = LazyLock::new(Pair::rsa);
        MADE.clone()
    }

    pub fn rsa() -> Self {
        let pair = RsaPair::generate(KeySize::Rsa2048).unwrap();
        let der: Pkcs8V1Der<'_> = pair.as_der().unwrap();
        let public: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
        let private = EncodingKey::from_rsa_pem(pem(der.as_ref()).as_bytes()).unwrap();
        let jwk = Jwk::from_encoding_key(&private, Algorithm::RS256).unwrap();
        let jwk = serde_json::to_value(jwk).unwrap();
        Self { private, jwk, public_der: public.as_ref().to_vec() }
    }

    pub fn ec() -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let der = pair.to_pkcs8v1().unwrap();
        let private = EncodingKey::from_ec_der(der.as_ref());
        let point = pair.public_key().as_ref().to_vec();
        let jwk = json!({
            "kty": "EC", "crv": "P-256", "x": encoded(&point[1..33]), "y": encoded(&point[33..65]),
        });
        Self { private, jwk, public_der: point }
    }

    fn published(&self, id: &str, usage: &str) -> Value {
        let mut jwk = self.jwk.clone();
        jwk["kid"] = id.into();
        jwk["use"] = usage.into();
        jwk
    }
}

/// An issuer reduced to its keys.
pub struct KeyServer {
    pub url: String,
    pub clock: Clock,
    pub rsa: Pair,
    pub ec: Pair,
    down: Arc<AtomicBool>,
    asked: Arc<watch::Sender<u32>>,
    held: watch::Sender<bool>,
}

impl KeyServer {
    pub async fn start() -> Self {
        Self::start_with(|document| document).await
    }

    /// The same with a discovery document that was changed.
    pub async fn start_with(change: impl FnOnce(Value) -> Value) -> Self {
        let (rsa, ec) = (Pair::shared(), Pair::ec());
        let set = json!({"keys": [
            rsa.published("rsa", "sig"),
            ec.published("ec", "sig"),
            rsa.published("enc", "enc"),
            {"kty": "oct", "kid": "oct", "k": encoded("published"), "alg": "HS256"},
            {"kty": "unheard of", "kid": "odd"},
        ]});
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let document = change(json!({"issuer": url, "jwks_uri": format!("{url}/keys")}));
        let (down, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(watch::Sender::new(0)));
        let (held, mut open) = watch::channel(false);
        let (is_down, count) = (down.clone(), asked.clone());
        let keys = get(move || async move {
            count.send_modify(|count| *count += 1);
            let _ = open.wait_for(|held| !held).await;
            if is_down.load(Ordering::SeqCst) {
                return StatusCode::BAD_GATEWAY.into_response();
            }
            Json(set).into_response()
        });
        let routes = Router::new()
            .route("/.well-known/openid-configuration", get(async || Json(document)))
            .route("/keys", keys);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let clock = Clock::held_at(Timestamp::from_second(NOW).unwrap());
        Self { url, clock, rsa, ec, down, asked, held }
    }

    pub fn verifier(&self) -> Verifier {
        self.verifier_with(|_| ())
    }

    /// A verifier that trusts this issuer in another way.
    pub fn verifier_with(&self, change: impl FnOnce(&mut TrustedIssuer)) -> Verifier {
        let mut trusted = TrustedIssuer {
            issuer: self.url.clone(),
            audiences: Some(vec![AUDIENCE.into()]),
            tenant_claim: "tenant".into(),
            any_tenant: false,
            groups: BTreeMap::new(),
            keys: None,
            plaintext: PlaintextHosts::default(),
        };
        change(&mut trusted);
        Verifier::new(vec![trusted], self.clock.clone()).unwrap()
    }

    pub fn asked(&self) -> u32 {
        *self.asked.borrow()
    }

    /// Comes back when the keys have been asked for so often.
    pub async fn asked_times(&self, times: u32) {
        self.asked.subscribe().wait_for(|asked| *asked >= times).await.unwrap();
    }

    /// From now on the keys are not given, until [`KeyServer::release`].
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    pub fn release(&self) {
        self.held.send_replace(false);
    }

    pub fn go_down(&self) {
        self.down.store(true, Ordering::SeqCst);
    }

    pub fn come_back(&self) {
        self.down.store(false, Ordering::SeqCst);
    }

    /// A good token with these scopes.
    pub fn token(&self, scopes: &[&str]) -> String {
        self.token_of(None, scopes)
    }

    /// The same for one tenant alone.
    pub fn token_of(&self, tenant: Option<&str>, scopes: &[&str]) -> String {
        let mut header = jsonwebtoken::Header::new(Algorithm::RS256);
        header.kid = Some("rsa".into());
        let claims = json!({
            "iss": self.url, "sub": "admin", "aud": AUDIENCE, "exp": NOW + 3600, "scp": scopes,
            "tenant": tenant,
        });
        jsonwebtoken::encode(&header, &claims, &self.rsa.private).unwrap()
    }
}
