//! The greeting service: it has a greeting for every instance, with a token to fetch it.

use std::sync::Arc;

use clients::{Component, Error, Gate, Http, Kind};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;
use url::Url;

/// Its name in errors and metrics.
pub(super) const COMPONENT: Component = Component("greetings");

/// A client of the greeting service.
#[derive(Debug, Clone)]
pub(super) struct Greetings {
    http: Http,
}

/// A greeting.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Greeting {
    /// What is said.
    pub(super) text: String,
    /// Lets the runtime fetch it.
    pub(super) token: SecretString,
}

impl Greetings {
    /// The service at `url`, behind `gate`.
    pub(super) fn new(gate: Arc<Gate>, url: Url) -> Result<Self, Error> {
        Ok(Self { http: Http::through(gate, url)? })
    }

    /// The greeting of an instance, if it has one.
    pub(super) async fn find(&self, instance: &str) -> Result<Option<Greeting>, Error> {
        let doing = format!("looking for the greeting of {instance}");
        let request = self.http.get("greetings").query(&[("instance", instance)]);
        match self.http.send_to("find greeting", &doing, request).await {
            Ok(answer) => answer.json().map(Some),
            Err(error) if error.kind == Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a greeting for an instance.
    pub(super) async fn make(&self, instance: &str) -> Result<Greeting, Error> {
        let doing = format!("greeting {instance}");
        let request = self.http.post("greetings").json(&json!({ "instance": instance }));
        self.http.send_to("make greeting", &doing, request).await?.json()
    }

    /// Deletes the greeting of an instance; one that is not there is deleted.
    pub(super) async fn delete(&self, instance: &str) -> Result<(), Error> {
        let doing = format!("deleting the greeting of {instance}");
        let request = self.http.delete("greetings").query(&[("instance", instance)]);
        match self.http.send_to("delete greeting", &doing, request).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind == Kind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}
