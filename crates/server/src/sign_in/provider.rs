//! The issuer at which people sign in: where they are sent, and what their code is worth.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use aws_lc_rs::digest::{SHA256, digest};
use base::PlaintextHosts;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use reqwest::{Client, redirect::Policy};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::sync::Mutex;
use url::Url;

/// How long one call may take.
const TIME: Duration = Duration::from_secs(5);
/// How long a discovery document is kept, and how long it is not asked for again after a failure: anybody can begin a sign-in.
const KEPT: Duration = Duration::from_mins(10);
const PAUSE: Duration = Duration::from_secs(2);

/// The issuer, and how we are known to it.
pub(super) struct Provider {
    pub(super) issuer: String,
    pub(super) client: String,
    pub(super) secret: Option<SecretString>,
    pub(super) scopes: String,
    /// Where people are sent back to.
    pub(super) back: String,
    pub(super) hosts: PlaintextHosts,
    pub(super) http: Client,
    pub(super) known: CachedEndpoints,
}

/// When the discovery document was read last, and what it said; nothing when it could not be read.
pub(super) type CachedEndpoints = Mutex<Option<(Instant, Option<Endpoints>)>>;

/// The endpoints in a discovery document.
#[derive(Clone, Deserialize)]
pub(super) struct Endpoints {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
}

#[derive(Deserialize)]
struct Tokens {
    access_token: Option<String>,
    id_token: Option<String>,
}

/// The client that asks issuers. It follows nobody elsewhere.
pub(super) fn client() -> anyhow::Result<Client> {
    Ok(Client::builder().timeout(TIME).redirect(Policy::none()).build()?)
}

impl Provider {
    /// Where someone is sent to sign in. The verifier stays here; its digest goes along.
    pub(super) async fn address(&self, state: &str, verifier: &str) -> anyhow::Result<String> {
        let mut address = self.endpoints().await?.authorization_endpoint;
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client)
            .append_pair("redirect_uri", &self.back)
            .append_pair("scope", &self.scopes)
            .append_pair("state", state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(address.into())
    }

    /// The tokens that a code is worth, the one with scopes first.
    pub(super) async fn redeem(&self, code: &str, verifier: &str) -> anyhow::Result<Vec<String>> {
        let endpoint = self.endpoints().await?.token_endpoint;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", self.back.as_str()),
            ("code_verifier", verifier),
            ("client_id", self.client.as_str()),
        ];
        let mut request = self.http.post(endpoint).form(&form);
        if let Some(secret) = &self.secret {
            request = request.basic_auth(&self.client, Some(secret.expose_secret()));
        }
        let tokens: Tokens = answered(request).await.context("redeeming a code")?;
        Ok(tokens.access_token.into_iter().chain(tokens.id_token).collect())
    }

    /// The issuer's endpoints; one request at a time asks for them.
    async fn endpoints(&self) -> anyhow::Result<Endpoints> {
        let mut known = self.known.lock().await;
        if let Some((at, found)) = &*known {
            let keeps = if found.is_some() { KEPT } else { PAUSE };
            if at.elapsed() < keeps {
                return found.clone().context("the issuer did not answer a moment ago");
            }
        }
        let found = self.discovered().await;
        *known = Some((Instant::now(), found.as_ref().ok().cloned()));
        found
    }

    async fn discovered(&self) -> anyhow::Result<Endpoints> {
        let address =
            format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let found: Endpoints = answered(self.http.get(address))
            .await
            .context("reading the issuer's discovery document")?;
        ensure!(
            found.issuer == self.issuer,
            "the discovery document names the issuer {:?}",
            found.issuer
        );
        for endpoint in [&found.authorization_endpoint, &found.token_endpoint] {
            ensure!(self.hosts.allow(endpoint), "{endpoint} is not https");
        }
        Ok(found)
    }
}

/// The JSON of an answer that is a success.
async fn answered<T: DeserializeOwned>(request: reqwest::RequestBuilder) -> anyhow::Result<T> {
    let answer = request.send().await?;
    let status = answer.status();
    ensure!(status.is_success(), "the issuer answered {status}");
    Ok(answer.json().await?)
}

#[cfg(test)]
mod tests {
    use axum::{
        Json, Router,
        http::{StatusCode, header::LOCATION},
        routing::get,
    };
    use serde_json::{Value, json};
    use tokio::net::TcpListener;

    use super::*;

    /// Where a sign-in leads when the issuer's document has these fields of its own; its address stands for `ISSUER`.
    async fn sent_to(fields: &Value) -> Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let mut document = json!({
            "issuer": "ISSUER", "authorization_endpoint": "ISSUER/sign-in", "token_endpoint": "ISSUER/token",
        });
        document.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let document: Value =
            serde_json::from_str(&document.to_string().replace("ISSUER", &issuer)).unwrap();
        let elsewhere = document["moved"].as_str().map(str::to_owned);
        let answer = move || async move {
            match elsewhere {
                Some(to) => Err((StatusCode::FOUND, [(LOCATION, to)])),
                None => Ok(Json(document)),
            }
        };
        let routes = Router::new()
            .route("/.well-known/openid-configuration", get(answer))
            .route("/moved", get(async || Json(json!({"issuer": "x"}))));
        tokio::spawn(async { axum::serve(listener, routes).await });
        let provider = Provider {
            issuer,
            client: "kcp".into(),
            secret: None,
            scopes: "openid".into(),
            back: "https://console.example.test/console/signed-in".into(),
            hosts: PlaintextHosts::default(),
            http: client().unwrap(),
            known: CachedEndpoints::default(),
        };
        provider.address("state", "verifier").await.map_err(|error| format!("{error:#}"))
    }

    #[tokio::test]
    async fn a_document_that_leads_to_somebody_else_is_not_followed() {
        let good = sent_to(&json!({})).await.unwrap();
        assert!(good.contains("/sign-in?response_type=code&client_id=kcp"), "{good}");
        assert!(!good.contains("verifier"), "the verifier stays here: {good}");

        for (fields, words) in [
            (json!({"issuer": "https://other.example.test"}), "names the issuer"),
            (json!({"authorization_endpoint": "http://other.example.test/"}), "is not https"),
            (json!({"token_endpoint": "http://other.example.test/"}), "is not https"),
            (json!({"moved": "ISSUER/moved"}), "302"),
        ] {
            let refused = sent_to(&fields).await.unwrap_err();
            assert!(refused.contains(words), "{fields}: {refused}");
        }
    }
}
