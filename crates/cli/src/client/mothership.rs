//! Calls to the Reconciler, as operators see it: the routes of the known client.

use anyhow::{Context as _, bail};
use clients::{Kind, http::segment};
use reqwest::Method;
use serde_json::{Value, json};

use super::Client;

impl Client {
    /// Reconciliations that a query chooses.
    pub(crate) async fn reconciliations(
        &self,
        query: &[(&str, String)],
    ) -> anyhow::Result<Vec<Value>> {
        let request = self.http.get("/reconciliations").query(query);
        let answer = self.send("listing reconciliations", request).await?;
        serde_json::from_value(answer).context("the Reconciler did not return a list")
    }

    /// One reconciliation with its operations.
    pub(crate) async fn reconciliation(&self, id: &str) -> anyhow::Result<Value> {
        let path = format!("/reconciliations/{}/info", named(id)?);
        self.send(&format!("looking at reconciliation {id}"), self.http.get(&path)).await
    }

    /// All that is kept about a cluster, by one of its names.
    pub(crate) async fn cluster_state(&self, query: &[(&str, &str)]) -> anyhow::Result<Value> {
        let request = self.http.get("/clusters/state").query(query);
        self.send("looking at the state of a cluster", request).await
    }

    /// Sets the status of a cluster.
    pub(crate) async fn set_cluster_status(
        &self,
        runtime: &str,
        status: &str,
    ) -> anyhow::Result<()> {
        let path = format!("/clusters/{}/status", named(runtime)?);
        let request = self.http.put(&path).json(&json!({ "status": status }));
        let answer = self.http.send(&format!("setting the status of {runtime}"), request).await;
        if matches!(&answer, Err(error) if error.kind == Kind::NotFound) {
            bail!("runtime {runtime}: not found in the Reconciler");
        }
        self.reached(answer).map(drop)
    }

    /// Makes a reconciliation, or one operation of it, log more.
    pub(crate) async fn debug_reconciliation(
        &self,
        id: &str,
        correlation: Option<&str>,
    ) -> anyhow::Result<()> {
        let path = match correlation {
            Some(correlation) => {
                format!("/operations/{}/{}/debug", named(id)?, named(correlation)?)
            }
            None => format!("/reconciliations/{}/debug", named(id)?),
        };
        let answer = self.http.send(&format!("debugging {id}"), self.http.put(&path)).await;
        self.reached(answer).map(drop)
    }

    /// Ends an operation of a reconciliation that has not begun.
    pub(crate) async fn stop_operation(&self, id: &str, correlation: &str) -> anyhow::Result<()> {
        let path = format!("/operations/{}/{}/stop", named(id)?, named(correlation)?);
        let reason = json!({ "reason": "Operation set to DONE manually via KCP CLI" });
        let request = self.http.post(&path).json(&reason);
        let answer = self.http.send(&format!("stopping operation {correlation}"), request).await;
        self.reached(answer).map(drop)
    }

    /// Forgets the reconciliations of a runtime.
    pub(crate) async fn purge_reconciliations(&self, runtime: &str) -> anyhow::Result<()> {
        let path = format!("/reconciliations/cluster/{}", named(runtime)?);
        let request = self.http.request(Method::DELETE, &path);
        let answer =
            self.http.send(&format!("purging reconciliations of {runtime}"), request).await;
        self.reached(answer).map(drop)
    }
}

fn named(id: &str) -> anyhow::Result<String> {
    segment(id).with_context(|| format!("\"{id}\" is not an id"))
}
