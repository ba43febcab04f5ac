//! The control API of the landscape, over HTTP as everybody else calls it.

use std::{fmt, sync::Arc, time::Duration};

use reqwest::{Client, Method};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::error::PageError;

/// How long a call may take.
const TIME: Duration = Duration::from_secs(5);

/// How the landscape is reached.
#[derive(Clone)]
pub struct Landscape {
    address: String,
    token: Arc<dyn Fn() -> Option<SecretString> + Send + Sync>,
    http: Client,
}

impl fmt::Debug for Landscape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Landscape").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Landscape {
    /// The landscape at this address; `token` gives one that is valid now.
    pub fn new(
        address: String,
        token: impl Fn() -> Option<SecretString> + Send + Sync + 'static,
    ) -> Self {
        Self { address, token: Arc::new(token), http: Client::new() }
    }

    pub(super) async fn systems(&self) -> Result<Vec<Value>, PageError> {
        self.list("/landscape/systems", "systems").await
    }

    pub(super) async fn troubles(&self) -> Result<Vec<Value>, PageError> {
        self.list("/landscape/troubles", "troubles").await
    }

    /// The objects of an existing system.
    pub(super) async fn objects(&self, system: &str) -> Result<Vec<Value>, PageError> {
        self.list(&format!("/landscape/systems/{system}/objects"), "objects").await
    }

    /// The newest lines of the ledger, oldest first; those of one system are looked for among more of them.
    pub(super) async fn ledger(&self, system: Option<&str>) -> Result<Vec<Value>, PageError> {
        let path = match system {
            Some(system) => format!("/landscape/ledger?newest=2000&system={system}"),
            None => "/landscape/ledger?newest=120".to_owned(),
        };
        self.list(&path, "entries").await
    }

    pub(super) async fn make(&self, rule: &Value) -> Result<(), PageError> {
        self.call(Method::POST, "/landscape/troubles", Some(rule)).await.map(drop)
    }

    pub(super) async fn end(&self, rule: &Value) -> Result<(), PageError> {
        self.call(Method::DELETE, &format!("/landscape/troubles/{rule}"), None).await.map(drop)
    }

    async fn list(&self, path: &str, field: &str) -> Result<Vec<Value>, PageError> {
        let mut answer = self.call(Method::GET, path, None).await?;
        Ok(answer[field].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, PageError> {
        let failed = |error: reqwest::Error| {
            PageError::Unavailable(format!("The landscape does not answer: {error}."))
        };
        let token = (self.token)();
        let token = token
            .ok_or_else(|| PageError::Unavailable("There is no token for the landscape.".into()))?;
        let request = self.http.request(method, format!("{}{path}", self.address)).timeout(TIME);
        let request = request.bearer_auth(token.expose_secret());
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let answer = request.send().await.map_err(failed)?;
        let status = answer.status();
        let text = answer.text().await.map_err(failed)?;
        if !status.is_success() {
            return Err(PageError::Bad(format!("The landscape refused it ({status}): {text}")));
        }
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }
}
