//! A client of `kcp up`, with tokens of its landscape.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use base::Clock;
use reqwest::Method;
use serde_json::{Value, json};
use server::up::Up;

use crate::platform::Platform;

pub(super) struct Client {
    pub(super) connection: Value,
    pub(super) http: reqwest::Client,
}

impl Client {
    pub(super) fn found_in(data: &Path) -> Self {
        let file = data.join("connection.json");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let connection = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        Self { connection, http: reqwest::Client::new() }
    }

    pub(super) fn field(&self, name: &str) -> &str {
        self.connection[name].as_str().unwrap()
    }

    pub(super) async fn get(&self, service: &str, path: &str, token: Option<&str>) -> (u16, Value) {
        let mut request = self.http.get(format!("{}{path}", self.field(service)));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await.unwrap();
        let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub(super) async fn operations(&self) -> Vec<Value> {
        let (status, page) = self.get("broker", "/operations", Some(self.field("token"))).await;
        assert_eq!(status, 200, "{page}");
        page["operations"].as_array().unwrap().clone()
    }

    /// Asks until the only operation is as expected.
    pub(super) async fn until(&self, expected: impl Fn(&Value) -> bool) -> Value {
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
pub(super) async fn order(up: &Up) {
    let platform = Platform::of(up).await;
    let order = platform.order("aws", &json!({"region": "eu-central-1"}));
    let path = "/oauth/cf-eu10/v2/service_instances/i-1?accepts_incomplete=true";
    let (status, answer) = platform.ask(Method::PUT, path, Some(&order)).await;
    assert_eq!(status, 202, "{answer}");
}

pub(super) fn data() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep").join(".kcp");
    (folder, path)
}
