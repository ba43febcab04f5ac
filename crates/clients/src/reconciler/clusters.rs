//! Clusters: applied, watched, removed.

use std::time::Duration;

use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::json;

use super::{Change, Cluster, Reconciler, State, Status, state::null_is_none};
use crate::error::{Error, Kind};

#[derive(Deserialize)]
struct Changes {
    #[serde(rename = "statusChanges", deserialize_with = "null_is_none")]
    changes: Vec<Change>,
}

impl Reconciler {
    /// Hands a cluster over, or changes what was said about it. Its state tells which configuration
    /// to watch; the same payload has the version that it had.
    pub async fn apply_cluster(&self, cluster: &Cluster) -> Result<State, Error> {
        let doing = format!("applying the configuration of runtime {}", cluster.runtime_id);
        let request = self.http.post("/v1/clusters").json(cluster);
        let state = self.state("apply cluster", &doing, request).await;
        let state = state.map_err(|mut error| {
            error.said = error.said.map(|said| cluster.cut_from(&said));
            error
        })?;
        self.about(&cluster.runtime_id, &doing, state)
    }

    /// How far a configuration is; `None` when the Reconciler does not have it, as after its end.
    pub async fn status(&self, runtime: &str, version: i64) -> Result<Option<State>, Error> {
        let doing = format!("reading configuration {version} of runtime {runtime}");
        let path = self.cluster(&doing, runtime, &format!("/configs/{version}/status"))?;
        let state = self.state("configuration status", &doing, self.http.get(&path)).await;
        self.found(runtime, &doing, state)
    }

    /// How far the latest configuration is; `None` when the Reconciler does not have the cluster.
    pub async fn latest_status(&self, runtime: &str) -> Result<Option<State>, Error> {
        let doing = format!("reading the status of runtime {runtime}");
        let path = self.cluster(&doing, runtime, "/status")?;
        let state = self.state("cluster status", &doing, self.http.get(&path)).await;
        self.found(runtime, &doing, state)
    }

    /// Sets the status by hand: [`Status::ReconcileDisabled`] makes the Reconciler keep off.
    pub async fn force_status(&self, runtime: &str, status: &Status) -> Result<State, Error> {
        let doing = format!("setting the status of runtime {runtime} to {status}");
        let path = self.cluster(&doing, runtime, "/status")?;
        let request = self.http.put(&path).json(&json!({ "status": status }));
        let state = self.state("force status", &doing, request).await?;
        self.about(runtime, &doing, state)
    }

    /// Has a cluster removed; one that is not there is removed.
    pub async fn delete_cluster(&self, runtime: &str) -> Result<(), Error> {
        let doing = format!("removing runtime {runtime}");
        let path = self.cluster(&doing, runtime, "")?;
        match self.http.send_to("delete cluster", &doing, self.http.delete(&path)).await {
            Err(error) if error.kind == Kind::NotFound => Ok(()),
            done => done.map(|_| ()),
        }
    }

    /// The status changes of a cluster in the last `offset`, cut to whole minutes.
    pub async fn status_changes(
        &self,
        runtime: &str,
        offset: Duration,
    ) -> Result<Vec<Change>, Error> {
        let doing = format!("reading the history of runtime {runtime}");
        let path = self.cluster(&doing, runtime, "/statusChanges")?;
        let offset = format!("{}m", offset.as_secs() / 60);
        let request = self.http.get(&path).query(&[("offset", offset)]);
        let answer = self.http.send_to("status changes", &doing, request).await?;
        Ok(answer.json::<Changes>()?.changes)
    }

    async fn state(
        &self,
        route: &str,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<State, Error> {
        self.http.send_to(route, doing, request).await?.json()
    }

    fn found(
        &self,
        runtime: &str,
        doing: &str,
        state: Result<State, Error>,
    ) -> Result<Option<State>, Error> {
        match state {
            Err(error) if error.kind == Kind::NotFound => Ok(None),
            state => self.about(runtime, doing, state?).map(Some),
        }
    }

    /// An answer about another cluster would be believed for ever: its version is stored.
    fn about(&self, runtime: &str, doing: &str, state: State) -> Result<State, Error> {
        if state.cluster == runtime {
            return Ok(state);
        }
        let mixed_up = Error::new(self.http.component(), Kind::Malformed, doing);
        Err(mixed_up.saying("it answered for another runtime"))
    }
}
