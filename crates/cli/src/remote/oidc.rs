//! Logging in to an issuer: authorization code, device flow, password, and the renewal of what they gave.
//!
//! What a reader would get wrong: the signature of the ID token is not checked here. It comes straight from the issuer, and
//! the broker checks it; only the nonce has to be compared by the one who sent it.

use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use aws_lc_rs::digest::{SHA256, digest};
use base::Clock;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use super::{config::Context, redirect, tokens::Login};
use crate::{connection, output};

const TIMEOUT: Duration = Duration::from_secs(30);
const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The fields of the discovery document that are used.
#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    authorization_endpoint: Option<Url>,
    device_authorization_endpoint: Option<Url>,
    token_endpoint: Url,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

#[derive(Deserialize)]
struct Device {
    #[serde(rename = "device_code")]
    code: SecretString,
    user_code: String,
    verification_uri: String,
    verification_uri_complete: Option<String>,
    expires_in: u64,
    interval: Option<u64>,
}

/// An issuer, and who asks it.
pub(crate) struct Issuer<'a> {
    context: &'a Context,
    http: reqwest::Client,
    discovery: Discovery,
}

impl<'a> Issuer<'a> {
    /// Asks the issuer where everything is.
    pub(crate) async fn discover(context: &'a Context) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let base = context.issuer.trim_end_matches('/');
        let url = format!("{base}/.well-known/openid-configuration");
        let answer = http.get(&url).send().await;
        let answer = answer.with_context(|| format!("no issuer answers at {url}"))?;
        let status = answer.status();
        if !status.is_success() {
            bail!("{url} answers {status}: {}", answer.text().await.unwrap_or_default());
        }
        let discovery: Discovery =
            answer.json().await.with_context(|| format!("{url} is not a discovery document"))?;
        if discovery.issuer != context.issuer {
            bail!(
                "issuer mismatch: its discovery document names {}, not {}",
                discovery.issuer,
                context.issuer
            );
        }
        let ends = [&discovery.authorization_endpoint, &discovery.device_authorization_endpoint];
        let ends = ends.into_iter().flatten().chain([&discovery.token_endpoint]);
        if let Some(clear) = ends.into_iter().find(|url| !super::is_safe(url)) {
            bail!("the issuer's endpoint is not https: {clear}");
        }
        Ok(Self { context, http, discovery })
    }

    /// With a name and a password.
    pub(crate) async fn password(&self, user: &str, password: &str) -> anyhow::Result<Login> {
        let scopes = self.scopes();
        let form = [
            ("grant_type", "password"),
            ("username", user),
            ("password", password),
            ("scope", &scopes),
        ];
        self.token(&form).await
    }

    /// In a browser: `open` is given the address to log in at.
    pub(crate) async fn browser(&self, open: impl FnOnce(&Url)) -> anyhow::Result<Login> {
        let endpoint = self.discovery.authorization_endpoint.clone();
        let mut url = endpoint.context("the issuer has no authorization endpoint: try --device")?;
        let listener = redirect::Listener::open().await?;
        let redirect = listener.address();
        // 244 random bits each.
        let random = || format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let (state, nonce, verifier) = (random(), random(), random());
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.context.client_id)
            .append_pair("redirect_uri", &redirect)
            .append_pair("scope", &self.scopes())
            .append_pair("state", &state)
            .append_pair("nonce", &nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        open(&url);
        let code = listener.code(&state).await?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", &redirect),
            ("code_verifier", &verifier),
        ];
        let login = self.token(&form).await?;
        let echoed = login.id_token.as_ref().and_then(|token| connection::claim(token, "nonce"));
        if login.id_token.is_some() && echoed.as_ref().and_then(Value::as_str) != Some(&nonce) {
            bail!("the response belongs to another login");
        }
        Ok(login)
    }

    /// On another device: `show` is given the address and the code.
    pub(crate) async fn device(&self, show: impl FnOnce(&str, &str)) -> anyhow::Result<Login> {
        let endpoint = self.discovery.device_authorization_endpoint.clone();
        let endpoint = endpoint.context("the issuer has no device flow")?;
        let scopes = self.scopes();
        let answer = self.post(&endpoint, &[("scope", scopes.as_str())]).await?;
        let device: Device = serde_json::from_value(answer.map_err(|body| refusal(&body))?)
            .context("the issuer's answer to the device is not valid")?;
        let page = device.verification_uri_complete.as_deref().unwrap_or(&device.verification_uri);
        show(page, &device.user_code);
        let clock = Clock::running();
        let until = clock.now() + Duration::from_secs(device.expires_in);
        let mut pause = Duration::from_secs(device.interval.unwrap_or(5));
        loop {
            clock.sleep(pause).await;
            let form = [("grant_type", DEVICE), ("device_code", device.code.expose_secret())];
            match self.post(&self.discovery.token_endpoint, &form).await? {
                Ok(answer) => return self.login(answer),
                Err(refused) => match refused["error"].as_str() {
                    Some("authorization_pending") => {}
                    Some("slow_down") => pause += Duration::from_secs(5),
                    _ => return Err(refusal(&refused)),
                },
            }
            if clock.now() > until {
                bail!("login timed out");
            }
        }
    }

    async fn token(&self, form: &[(&str, &str)]) -> anyhow::Result<Login> {
        let answer = self.post(&self.discovery.token_endpoint, form).await?;
        self.login(answer.map_err(|body| refusal(&body))?)
    }

    fn login(&self, answer: Value) -> anyhow::Result<Login> {
        let login: Login =
            serde_json::from_value(answer).context("the issuer's answer has no token")?;
        Ok(Login { scoped: self.context.sends_access_token(), ..login })
    }

    /// What is asked for, and a token for renewals where the issuer wants to be asked for it.
    fn scopes(&self) -> String {
        const OFFLINE: &str = "offline_access";
        let offered = self.discovery.scopes_supported.iter().any(|scope| scope == OFFLINE);
        let scopes = &self.context.scopes;
        if offered && !scopes.split_whitespace().any(|scope| scope == OFFLINE) {
            return format!("{scopes} {OFFLINE}");
        }
        scopes.clone()
    }

    /// The answer, or the refusal that the issuer explains.
    async fn post(&self, url: &Url, form: &[(&str, &str)]) -> anyhow::Result<Result<Value, Value>> {
        let mut form = form.to_vec();
        form.push(("client_id", &self.context.client_id));
        if let Some(secret) = &self.context.client_secret {
            form.push(("client_secret", secret));
        }
        let answer = self.http.post(url.clone()).form(&form).send().await;
        let answer = answer.with_context(|| format!("no issuer answers at {url}"))?;
        let good = answer.status().is_success();
        let body: Value =
            answer.json().await.with_context(|| format!("{url} did not return JSON"))?;
        Ok(if good { Ok(body) } else { Err(body) })
    }
}

/// A new login for an old one.
pub(super) async fn refresh(context: &Context, token: &SecretString) -> anyhow::Result<Login> {
    let issuer = Issuer::discover(context).await?;
    let form = [("grant_type", "refresh_token"), ("refresh_token", token.expose_secret())];
    issuer.token(&form).await
}

fn refusal(body: &Value) -> anyhow::Error {
    let word = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
    let why = format!("{} {}", word("error"), word("error_description"));
    anyhow!("login refused by the issuer: {}", output::harmless(why.trim(), ""))
}
