//! How the agent speaks to the connector and to the Director.

use std::time::Duration;

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::configuration::{Configuration, Credentials};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
const CREDENTIALS: &str =
    "{ token validFrom validUntil managementPlaneInfo { directorURL connectorURL } }";

/// Why something was not done.
pub(super) enum Failure {
    /// The other side said no.
    Refused(String),
    /// There was no answer that makes sense.
    Unreachable(String),
}

pub(super) struct Wire(reqwest::Client);

impl Wire {
    pub(super) fn new() -> Self {
        Self(reqwest::Client::new())
    }

    /// Exchanges a one-time token.
    pub(super) async fn exchange(
        &self,
        configuration: &Configuration,
        key: &str,
    ) -> Result<Credentials, Failure> {
        let query = format!(
            "mutation ($id: ID!, $tenant: String!) \
             {{ result: exchangeToken(runtimeID: $id, tenant: $tenant) {CREDENTIALS} }}"
        );
        let variables = json!({"id": configuration.runtime_id, "tenant": configuration.tenant});
        let request = self.0.post(&configuration.connector_url);
        let request =
            request.header("connector-token", &configuration.token).header("idempotency-key", key);
        let given = ask(request, &query, &variables).await?;
        credentials(&given, &configuration.runtime_id, &configuration.tenant)
    }

    /// Exchanges credentials for new ones.
    pub(super) async fn renew(&self, old: &Credentials) -> Result<Credentials, Failure> {
        let query = format!("mutation {{ result: renewCredentials {CREDENTIALS} }}");
        let request = self.0.post(&old.connector_url).bearer_auth(&old.token);
        let given = ask(request, &query, &json!({})).await?;
        credentials(&given, &old.runtime_id, &old.tenant)
    }

    /// Tells the Director that the runtime is connected, and where its console is.
    pub(super) async fn tell(
        &self,
        credentials: &Credentials,
        domain: Option<String>,
    ) -> Result<(), Failure> {
        let request = || {
            let request = self.0.post(&credentials.director_url);
            request.bearer_auth(&credentials.token).header("tenant", &credentials.tenant)
        };
        let id = &credentials.runtime_id;
        let query = "query ($id: ID!) \
                     { result: runtime(id: $id) { name description labels status { condition } } }";
        let runtime = ask(request(), query, &json!({"id": id})).await?;
        if runtime.is_null() {
            return Err(Failure::Refused(format!("the Director does not know runtime {id}")));
        }
        let labelled = runtime["labels"]["gardenerClusterDomain"].as_str().map(str::to_owned);
        let console = domain.or(labelled).map(|domain| format!("https://console.{domain}"));
        if runtime["status"]["condition"] != "CONNECTED" {
            // An update replaces all labels, so they go along.
            let mut labels = runtime["labels"].as_object().cloned().unwrap_or_default();
            labels.extend(console.map(|url| ("runtime_consoleUrl".to_owned(), json!(url))));
            let input = json!({
                "name": runtime["name"],
                "description": runtime["description"],
                "labels": labels,
                "statusCondition": "CONNECTED",
            });
            let query = "mutation ($id: ID!, $in: RuntimeUpdateInput!) \
                         { result: updateRuntime(id: $id, in: $in) { id } }";
            return ask(request(), query, &json!({"id": id, "in": input})).await.map(drop);
        }
        if let Some(url) = console.filter(|url| runtime["labels"]["runtime_consoleUrl"] != *url) {
            let query = "mutation ($id: ID!, $value: Any!) { result: setRuntimeLabel\
                         (runtimeID: $id, key: \"runtime_consoleUrl\", value: $value) { key } }";
            ask(request(), query, &json!({"id": id, "value": url})).await?;
        }
        Ok(())
    }
}

fn credentials(given: &Value, runtime: &str, tenant: &str) -> Result<Credentials, Failure> {
    let text = |pointer: &str| {
        let found = given.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        found.ok_or_else(|| Failure::Unreachable(format!("the connector's answer lacks {pointer}")))
    };
    Ok(Credentials {
        director_url: text("/managementPlaneInfo/directorURL")?,
        connector_url: text("/managementPlaneInfo/connectorURL")?,
        runtime_id: runtime.to_owned(),
        tenant: tenant.to_owned(),
        token: text("/token")?,
        valid_from: text("/validFrom")?,
        valid_until: text("/validUntil")?,
    })
}

/// Sends a request; comes back with what stands under `result`.
async fn ask(request: RequestBuilder, query: &str, variables: &Value) -> Result<Value, Failure> {
    let unreachable = |error: reqwest::Error| Failure::Unreachable(error.to_string());
    let body = json!({"query": query, "variables": variables});
    let answer = request.timeout(PATIENCE).json(&body).send().await.map_err(unreachable)?;
    let status = answer.status();
    let answer: Value = match answer.json().await {
        Ok(answer) => answer,
        Err(_) => return Err(Failure::Unreachable(format!("no answer but status {status}"))),
    };
    if let Some(error) = answer["errors"].get(0) {
        let message = error["message"].as_str().unwrap_or("an error without words").to_owned();
        // Internal errors pass.
        let passing = error["extensions"]["error_code"].as_i64().is_none_or(|code| code <= 11);
        return Err(if passing {
            Failure::Unreachable(message)
        } else {
            Failure::Refused(message)
        });
    }
    if !status.is_success() {
        return Err(Failure::Unreachable(format!("status {status}")));
    }
    Ok(answer["data"]["result"].clone())
}
