//! Calls about orchestrations: one change over many runtimes.

use anyhow::Context;
use clients::http::segment;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Client, from_route};

/// How many are asked for at once: as many as the broker gives.
const PAGE: usize = 100;

/// An orchestration's id as a part of a path.
fn named(id: &str) -> anyhow::Result<String> {
    segment(id).with_context(|| format!("\"{id}\" is not the id of an orchestration"))
}

impl Client {
    /// Begins an upgrade of many runtimes.
    pub(crate) async fn upgrade(&self, what: &str, body: &Value) -> anyhow::Result<Value> {
        let request = self.http.post(&format!("/upgrade/{what}")).json(body);
        self.send("beginning an upgrade", request).await
    }

    /// What an upgrade would do; none from a broker that has no previews.
    pub(crate) async fn upgrade_preview(
        &self,
        what: &str,
        body: &Value,
    ) -> anyhow::Result<Option<Value>> {
        let request = self.http.post(&format!("/upgrade/{what}/preview")).json(body);
        from_route(self.send("previewing an upgrade", request).await)
    }

    /// All orchestrations in these states, or in any.
    pub(crate) async fn orchestrations(&self, states: &[String]) -> anyhow::Result<Vec<Value>> {
        self.orchestration_pages("listing orchestrations", "/orchestrations", states).await
    }

    /// All operations of an orchestration in these states, or in any.
    pub(crate) async fn orchestration_operations(
        &self,
        id: &str,
        states: &[String],
    ) -> anyhow::Result<Vec<Value>> {
        let path = format!("/orchestrations/{}/operations", named(id)?);
        self.orchestration_pages("listing operations of an orchestration", &path, states).await
    }

    /// Something below an orchestration, or the orchestration itself.
    pub(crate) async fn orchestration(&self, id: &str, below: &str) -> anyhow::Result<Value> {
        let path = format!("/orchestrations/{}{below}", named(id)?);
        self.send(&format!("looking at orchestration {id}"), self.http.get(&path)).await
    }

    /// How far an orchestration is; from a broker that does not tell, what its counts say.
    pub(crate) async fn progress(&self, id: &str) -> anyhow::Result<Value> {
        match from_route(self.orchestration(id, "/progress").await)? {
            Some(progress) => Ok(progress),
            None => Ok(counted(&self.orchestration(id, "").await?)),
        }
    }

    /// Cancels, pauses or resumes an orchestration.
    pub(crate) async fn change_orchestration(
        &self,
        id: &str,
        change: &str,
    ) -> anyhow::Result<Value> {
        let path = format!("/orchestrations/{}/{change}", named(id)?);
        let request = self.http.request(Method::PUT, &path);
        self.send(&format!("{change} of orchestration {id}"), request).await
    }

    /// Lets an orchestration run so many at a time.
    pub(crate) async fn orchestration_workers(
        &self,
        id: &str,
        workers: u32,
    ) -> anyhow::Result<Value> {
        let path = format!("/orchestrations/{}/workers", named(id)?);
        let request = self.http.request(Method::PATCH, &path).json(&json!({ "workers": workers }));
        self.send(&format!("changing the workers of orchestration {id}"), request).await
    }

    /// Tries failed operations again: these, or all.
    pub(crate) async fn retry_orchestration(
        &self,
        id: &str,
        operations: &[String],
        now: bool,
    ) -> anyhow::Result<Value> {
        let mut form: Vec<(&str, &str)> =
            operations.iter().map(|id| ("operation-id", id.as_str())).collect();
        if now {
            form.push(("immediate", "true"));
        }
        let path = format!("/orchestrations/{}/retry", named(id)?);
        let request = self.http.post(&path).form(&form);
        self.send(&format!("retrying orchestration {id}"), request).await
    }

    async fn orchestration_pages(
        &self,
        doing: &str,
        path: &str,
        states: &[String],
    ) -> anyhow::Result<Vec<Value>> {
        let mut all = Vec::new();
        for page in 1.. {
            let mut query = vec![("page", page.to_string()), ("page_size", PAGE.to_string())];
            query.extend(states.iter().map(|state| ("state", state.clone())));
            let mut answer = self.send(doing, self.http.get(path).query(&query)).await?;
            let total = answer["totalCount"].as_u64().unwrap_or_default();
            let Value::Array(data) = answer["data"].take() else { break };
            let empty = data.is_empty();
            all.extend(data);
            if empty || all.len() as u64 >= total {
                break;
            }
        }
        Ok(all)
    }
}

/// The progress that the counts of an orchestration's operations stand for.
fn counted(it: &Value) -> Value {
    let states = &it["operationStats"];
    let number = |state: &str| states[state].as_u64().unwrap_or_default();
    let all = states.as_object().into_iter().flatten();
    let total: u64 = all.filter_map(|(_, number)| number.as_u64()).sum();
    let done: u64 = ["succeeded", "failed", "canceled"].map(number).iter().sum();
    let wave = json!({ "wave": "all", "total": total, "done": done, "states": states });
    json!({
        "orchestrationID": it["orchestrationID"], "state": it["state"],
        "total": total, "done": done, "waves": [wave],
    })
}
