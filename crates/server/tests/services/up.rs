//! `kcp up` in this process: what its contract promises to scripts and tests.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::platform::Platform;
use base::Clock;
use reqwest::Method;
use serde_json::{Value, json};
use server::{
    settings,
    up::{Options, Up},
};

use crate::support::free_ports;

fn options(port: u16, data: &Path, speed: &str) -> Options {
    crate::support::options(port, data, speed, settings::load(None).unwrap())
}

struct Client {
    connection: Value,
    http: reqwest::Client,
}

impl Client {
    fn found_in(data: &Path) -> Self {
        let file = data.join("connection.json");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let connection = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        Self { connection, http: reqwest::Client::new() }
    }

    fn field(&self, name: &str) -> &str {
        self.connection[name].as_str().unwrap()
    }

    async fn get(&self, service: &str, path: &str, token: Option<&str>) -> (u16, Value) {
        let mut request = self.http.get(format!("{}{path}", self.field(service)));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await.unwrap();
        let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    async fn operations(&self) -> Vec<Value> {
        let (status, page) = self.get("broker", "/operations", Some(self.field("token"))).await;
        assert_eq!(status, 200, "{page}");
        page["operations"].as_array().unwrap().clone()
    }

    /// Asks until the only operation is as expected.
    async fn until(&self, expected: impl Fn(&Value) -> bool) -> Value {
        let clock = Clock::running();
        for _ in 0..2_400 {
            let operations = self.operations().await;
            if let Some(operation) = operations.first().filter(|operation| expected(operation)) {
                return operation.clone();
            }
            clock.sleep(Duration::from_millis(25)).await;
        }
        panic!("it did not get there: {:?}", self.operations().await);
    }
}

/// Orders a runtime.
async fn order(up: &Up) {
    let platform = Platform::of(up).await;
    let order = platform.order("aws", &json!({"region": "eu-central-1"}));
    let path = "/oauth/cf-eu10/v2/service_instances/i-1?accepts_incomplete=true";
    let (status, answer) = platform.ask(Method::PUT, path, Some(&order)).await;
    assert_eq!(status, 202, "{answer}");
}

fn data() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep").join(".kcp");
    (folder, path)
}

#[tokio::test(flavor = "multi_thread")]
async fn it_serves_everything_its_contract_names() {
    let (_folder, data) = data();
    let port = free_ports();
    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let client = Client::found_in(&data);
    let token = Some(client.field("token"));

    let fields: Vec<&String> = client.connection.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["broker", "provisioner", "landscape", "token", "user", "password", "pid"]);
    for service in ["broker", "provisioner", "landscape"] {
        for path in ["/healthz", "/readyz", "/version"] {
            let (status, body) = client.get(service, path, None).await;
            assert_eq!(status, 200, "{service}{path}: {body}");
        }
    }
    let page = reqwest::get(client.field("broker")).await.unwrap();
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(
        (header("x-content-type-options"), header("x-frame-options")),
        ("nosniff".into(), "DENY".into())
    );
    for word in
        ["default-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"]
    {
        assert!(header("content-security-policy").contains(word), "{word}");
    }
    for cluster in ["garden", "kcp"] {
        let file = data.join("kubeconfigs").join(format!("{cluster}.yaml"));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let address = format!("https://127.0.0.1:{}/clusters/{cluster}", port + 3);
        assert!(std::fs::read_to_string(file).unwrap().contains(&address), "{address}");
    }
    let (_, systems) = client.get("landscape", "/landscape/systems", token).await;
    let systems: Vec<&str> = systems["systems"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    for system in ["gardener", "control-plane", "runtimes"] {
        assert!(systems.contains(&system), "{system} in {systems:?}");
    }
    order(&up).await;
    let ended = client.until(|operation| operation["state"] == "succeeded").await;
    let id = ended["id"].as_str().unwrap();
    let (_, journal) = client.get("broker", &format!("/operations/{id}/journal"), token).await;
    let (_, waiting) = client.get("broker", &format!("/operations/{id}/waiting"), token).await;
    let (_, metrics) = client.get("broker", "/metrics", token).await;
    let (_, page) = client.get("broker", "/", None).await;

    let stages = ["start", "create_runtime", "check_kyma", "create_kyma_resource", "post_actions"];
    assert_eq!(ended["closed"], json!(stages));
    assert!(journal.as_array().unwrap().iter().any(|entry| entry["step"] == "AVS_Tags"));
    assert_eq!(waiting["kind"], "ended");
    assert!(metrics.as_str().unwrap().contains("kcp_operations_ended_total"), "{metrics}");
    assert!(page.as_str().unwrap().contains(id), "{page}");
    let foreign = client.http.get(client.field("broker")).header("host", "elsewhere.example");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    assert_eq!(client.get("broker", "/operations", None).await.0, 401);
    assert_eq!(client.get("broker", "/metrics", None).await.0, 401);
    up.stop().await;
    assert!(!data.join("connection.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn starting_again_carries_on_with_the_order_that_was_begun() {
    let (_folder, data) = data();
    let port = free_ports();
    let up = Up::start(options(port, &data, "1")).await.unwrap();
    let before = Client::found_in(&data);
    order(&up).await;
    let waits =
        |operation: &Value| operation["step"] == "Check_Runtime" && operation["note"].is_string();
    let first = before.until(waits).await;
    up.stop().await;

    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let after = Client::found_in(&data);
    let ended = after.until(|operation| operation["state"] == "succeeded").await;

    assert_eq!(ended["id"], first["id"]);
    assert_eq!(after.operations().await.len(), 1);
    assert_eq!(after.field("password"), before.field("password"));
    let (status, _) = after.get("broker", "/operations", Some(before.field("token"))).await;
    assert_eq!(status, 200, "a token of the start before is still good");
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_landscape_answers_behind_the_token_and_carries_on_after_a_restart() {
    let (_folder, data) = data();
    let port = free_ports();
    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let client = Client::found_in(&data);
    let register = "mutation { result: registerRuntime(in: { name: \"kept\" }) { id } }";
    let registered = client
        .http
        .post(format!("{}/director/graphql", client.field("landscape")))
        .bearer_auth(client.field("token"))
        .header("tenant", "any")
        .json(&serde_json::json!({ "query": register }));
    let registered: Value = registered.send().await.unwrap().json().await.unwrap();
    let (open, _) = client.get("landscape", "/landscape/systems", None).await;
    up.stop().await;

    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let after = Client::found_in(&data);
    let path = "/landscape/systems/director/objects";
    let (status, kept) = after.get("landscape", path, Some(after.field("token"))).await;
    up.stop().await;

    assert_eq!((open, status), (401, 200));
    assert_eq!(kept["objects"][0]["id"], registered["data"]["result"]["id"]);
    assert_eq!(kept["objects"][0]["value"]["name"], "kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_or_a_port_in_use_is_named() {
    let (_folder, data) = data();
    let port = free_ports();
    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let error = |options| {
        Box::pin(async {
            let refused: anyhow::Result<Up> = Up::start(options).await;
            format!("{:#}", refused.err().unwrap())
        })
    };

    let locked = error(options(free_ports(), &data, "max")).await;
    let taken = error(options(port - 1, &data.with_extension("other"), "max")).await;

    assert!(locked.contains(data.canonicalize().unwrap().to_str().unwrap()), "{locked}");
    assert!(locked.contains("--data"), "{locked}");
    assert!(taken.contains(&format!("port {port}")) && taken.contains("--port"), "{taken}");
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_works_on_postgresql_as_well() {
    let (_folder, data) = data();
    let database = store::testing::TestDatabase::postgres().await;
    let url = Some(database.url().to_owned().into());
    let options = Options { database: url, ..options(free_ports(), &data, "max") };

    let up = Up::start(options).await.unwrap();
    let client = Client::found_in(&data);
    order(&up).await;
    client.until(|operation| operation["state"] == "succeeded").await;

    assert!(!data.join("kcp.db").exists());
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_token_of_a_person_opens_runtimes_and_broker_write_alone_removes() {
    let data = tempfile::tempdir().unwrap();
    let up = Up::start(options(free_ports(), data.path(), "max")).await.unwrap();
    let client = Client::found_in(data.path());
    let credentials = std::fs::read(data.path().join("credentials.json")).unwrap();
    let credentials: Value = serde_json::from_slice(&credentials).unwrap();
    let secret = credentials["client_secret"].as_str().unwrap();
    let token = async |form: &[(&str, &str)], which: &str| {
        let asked = client.http.post(format!("{}/oauth2/token", client.field("landscape")));
        let answer: Value = asked.form(form).send().await.unwrap().json().await.unwrap();
        answer[which].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };

    // What the operators' client does: a login with the scopes "email openid", then the ID token everywhere.
    let login = [
        ("grant_type", "password"),
        ("client_id", "kcp"),
        ("username", client.field("user")),
        ("password", client.field("password")),
        ("scope", "email openid"),
    ];
    let person = token(&login, "id_token").await;
    let list = "/runtimes?op_detail=last&page=1&page_size=100";
    let (status, page) = client.get("broker", list, Some(&person)).await;
    assert_eq!((status, &page["totalCount"]), (200, &0.into()), "{page}");
    assert_eq!(client.get("broker", "/operations", Some(&person)).await.0, 403);

    // And for removals: client credentials with broker:write and nothing else.
    let machine = [
        ("grant_type", "client_credentials"),
        ("client_id", "kcp-broker"),
        ("client_secret", secret),
        ("scope", "broker:write"),
    ];
    let machine = token(&machine, "access_token").await;
    let removed = async |token: &str| {
        let path = "/oauth/v2/service_instances/i-1?accepts_incomplete=true&service_id=s&plan_id=p";
        let asked = client.http.delete(format!("{}{path}", client.field("broker")));
        let asked = asked.bearer_auth(token).header("x-broker-api-version", "2.14");
        asked.send().await.unwrap().status().as_u16()
    };
    assert_eq!(removed(&machine).await, 410);
    assert_eq!(removed(&person).await, 403);
    assert_eq!(client.get("broker", list, Some(&machine)).await.0, 403);
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_sends_no_token_is_served_by_the_provisioner_when_the_settings_name_it() {
    let peer =
        "keb@127.0.0.0/8=provisioner:read,provisioner:write,provisioner:kubeconfig,tenants:any";
    for (peers, wanted) in [(vec![], 401), (vec![peer.parse().unwrap()], 200)] {
        let data = tempfile::tempdir().unwrap();
        let mut options = options(free_ports(), data.path(), "max");
        options.provisioner.access.peers = peers;
        let up = Up::start(options).await.unwrap();
        let client = Client::found_in(data.path());
        let ask = async |token: Option<&str>| {
            let query = r#"{"query": "{ runtimeStatus(id: \"x\") { runtimeConfiguration { kubeconfig } } }"}"#;
            let asked = client.http.post(format!("{}/graphql", client.field("provisioner")));
            let asked = asked.header("content-type", "application/json").header("tenant", "ga-1");
            let asked =
                token.into_iter().fold(asked.body(query), reqwest::RequestBuilder::bearer_auth);
            asked.send().await.unwrap().status().as_u16()
        };

        assert_eq!(ask(None).await, wanted);
        assert_eq!(ask(Some("bad")).await, 401);
        assert_eq!(ask(Some(client.field("token"))).await, 200);
        // It is the provisioner's setting: the broker's doors stay closed.
        assert_eq!(client.get("broker", "/runtimes", None).await.0, 401);
        up.stop().await;
    }
}
