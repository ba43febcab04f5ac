//! Clients of the original, in our own words: what its operators' client and its broker send, in their order, and what
//! they need from the answers. All over sockets, against `kcp up`.

mod broker;
mod lists;
mod reading;

use std::path::Path;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use reqwest::{RequestBuilder, Url, redirect};
use serde_json::{Value, json};
use server::{settings, up::Up};

use crate::support::{free_ports, options};

/// The example of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://localhost:8000";
/// The client asks for one of them twice.
const SCOPES: &str = "email openid openid";
const PEER: &str =
    "keb@127.0.0.0/8=provisioner:read,provisioner:write,provisioner:kubeconfig,tenants:any";

async fn start(data: &Path, peers: &[&str]) -> Up {
    let mut options = options(free_ports(), data, "max", settings::load(None).unwrap());
    options.provisioner.access.peers = peers.iter().map(|peer| peer.parse().unwrap()).collect();
    Up::start(options).await.unwrap()
}

async fn answer(request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn claims(token: &str) -> Value {
    let payload = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&payload).unwrap()
}

/// The operators' client.
struct Operator {
    broker: String,
    landscape: String,
    user: String,
    password: String,
    secret: String,
    http: reqwest::Client,
}

impl Operator {
    fn of(data: &Path) -> Self {
        let read = |file: &str| -> Value {
            serde_json::from_slice(&std::fs::read(data.join(file)).unwrap()).unwrap()
        };
        let (connection, credentials) = (read("connection.json"), read("credentials.json"));
        Self {
            broker: text(&connection["broker"]),
            landscape: text(&connection["landscape"]),
            user: text(&connection["user"]),
            password: text(&connection["password"]),
            secret: text(&credentials["client_secret"]),
            http: reqwest::Client::builder().redirect(redirect::Policy::none()).build().unwrap(),
        }
    }

    /// Asks for a token as the public client `kcp`: its name and an empty secret in the header.
    async fn tokens(&self, form: &[(&str, &str)]) -> (u16, Value) {
        let asked = self.http.post(format!("{}/oauth2/token", self.landscape));
        answer(asked.basic_auth("kcp", Some("")).form(form)).await
    }

    /// Submits the login page as a browser does, and returns the code.
    async fn code(&self, decision: &str, password: &str) -> Result<String, u16> {
        let (_, discovery) =
            answer(self.http.get(format!("{}/.well-known/openid-configuration", self.landscape)))
                .await;
        assert_eq!(discovery["issuer"], self.landscape, "compared as a text");
        let fields = [
            ("access_type", "offline"),
            ("client_id", "kcp"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("nonce", "n-1"),
            ("redirect_uri", REDIRECT),
            ("response_type", "code"),
            ("scope", SCOPES),
            ("state", "s-1"),
        ];
        let endpoint = text(&discovery["authorization_endpoint"]);
        let page = Url::parse_with_params(&endpoint, fields).unwrap();
        assert_eq!(self.http.get(page.clone()).send().await.unwrap().status(), 200);
        let typed = [("username", &*self.user), ("password", password), ("decision", decision)];
        let back = self.http.post(page).form(&typed).send().await.unwrap();
        if back.status() != 303 {
            return Err(back.status().as_u16());
        }
        let back = Url::parse(back.headers()["location"].to_str().unwrap()).unwrap();
        assert!(back.as_str().starts_with(REDIRECT), "{back}");
        let found = |name: &str| {
            back.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        assert_eq!(found("state").as_deref(), Some("s-1"));
        Ok(found("code").or(found("error")).unwrap())
    }

    async fn login_in_the_browser(&self) -> Value {
        let code = self.code("allow", &self.password).await.unwrap();
        let form = [
            ("code", &*code),
            ("code_verifier", VERIFIER),
            ("grant_type", "authorization_code"),
            ("redirect_uri", REDIRECT),
        ];
        let (status, tokens) = self.tokens(&form).await;
        assert_eq!(status, 200, "{tokens}");
        assert_eq!(self.tokens(&form).await.0, 400, "a code works once");
        tokens
    }

    async fn login_with_password(&self, user: &str, password: &str) -> String {
        let form = [
            ("grant_type", "password"),
            ("password", password),
            ("scope", SCOPES),
            ("username", user),
        ];
        let (status, tokens) = self.tokens(&form).await;
        assert_eq!(status, 200, "{tokens}");
        text(&tokens["id_token"])
    }

    /// A token for removals: client credentials with one scope.
    async fn machine(&self) -> String {
        let form = [("grant_type", "client_credentials"), ("scope", "broker:write")];
        let asked = self.http.post(format!("{}/oauth2/token", self.landscape));
        let asked = asked.basic_auth("kcp-broker", Some(&self.secret)).form(&form);
        text(&answer(asked).await.1["access_token"])
    }

    async fn get(&self, address: &str, token: &str) -> (u16, Value) {
        answer(self.http.get(address).bearer_auth(token)).await
    }

    /// One page of the list.
    async fn page(&self, query: &str, token: &str) -> Value {
        let address = format!("{}/runtimes?{query}", self.broker);
        let (status, page) = self.get(&address, token).await;
        assert_eq!(status, 200, "{query}: {page}");
        page
    }

    /// The plans of what fits these filters, by name.
    async fn plans(&self, filters: &str, token: &str) -> Vec<String> {
        let page =
            self.page(&format!("{filters}&op_detail=last&page=1&page_size=100"), token).await;
        let data = page["data"].as_array().unwrap();
        assert_eq!((&page["count"], &page["totalCount"]), (&json!(data.len()), &json!(data.len())));
        let mut plans: Vec<_> = data.iter().map(|one| text(&one["servicePlanName"])).collect();
        plans.sort();
        plans
    }

    /// Removes as the client does, with a service and a plan that nobody has.
    async fn remove(&self, instance: &str, token: &str) -> u16 {
        let path = format!("/oauth/v2/service_instances/{instance}");
        let query = "accepts_incomplete=true&service_id=made-up&plan_id=made-up-too";
        let asked = self.http.delete(format!("{}{path}?{query}", self.broker));
        answer(asked.bearer_auth(token).header("x-broker-api-version", "2.14")).await.0
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_client_of_the_original_logs_in_in_every_way_that_it_has() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), &[]).await;
    let operator = Operator::of(data.path());
    let list = format!("{}/runtimes?op_detail=last&page=1&page_size=100", operator.broker);

    let tokens = operator.login_in_the_browser().await;
    let claimed = claims(&text(&tokens["id_token"]));
    for (claim, wanted) in [("iss", &*operator.landscape), ("aud", "kcp"), ("nonce", "n-1")] {
        assert_eq!(claimed[claim], wanted, "{claimed}");
    }
    assert!(claimed["email"].is_string() && claimed["login_name"].is_string(), "{claimed}");
    assert_eq!(tokens["scope"], "email openid", "once each");
    assert_eq!(operator.get(&list, &text(&tokens["id_token"])).await.0, 200);

    // A token that has run out is renewed; the one that renewed it is used up.
    let old = text(&tokens["refresh_token"]);
    let form = [("grant_type", "refresh_token"), ("refresh_token", &*old)];
    let (_, renewed) = operator.tokens(&form).await;
    assert_eq!(operator.get(&list, &text(&renewed["id_token"])).await.0, 200);
    assert_eq!(operator.tokens(&form).await.0, 400);

    assert_eq!(operator.code("allow", "wrong").await, Err(401));
    assert_eq!(operator.code("deny", &operator.password).await.as_deref(), Ok("access_denied"));
    let person = operator.login_with_password(&operator.user, &operator.password).await;
    assert_eq!(operator.get(&list, &person).await.0, 200);
    // An address that ends with a slash is sent to the clean path.
    let doubled = list.replace("/runtimes", "//runtimes");
    let moved = operator.http.get(doubled).bearer_auth(&person).send().await.unwrap();
    assert_eq!(moved.status(), 301);
    up.stop().await;
}
