//! Routes for operators: reads, and stopping by hand.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Reconciler;
use crate::{
    error::{Error, Kind},
    http::segment,
};

/// One round of reconciling.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Reconciliation {
    /// Its id.
    #[serde(rename = "schedulingID")]
    pub scheduling_id: String,
    /// The runtime it is about.
    #[serde(rename = "runtimeID")]
    pub runtime_id: String,
    /// How far it is, or how it ended.
    pub status: String,
}

/// Which rounds to list; everything that is not given fits.
#[derive(Debug, Clone, Default)]
pub struct ReconciliationFilter {
    /// The runtimes to select.
    pub runtimes: Vec<String>,
    /// With one of these statuses.
    pub statuses: Vec<String>,
    /// Only the last so many.
    pub last: Option<u32>,
}

impl Reconciler {
    /// Lists rounds of reconciling, the latest first.
    pub async fn reconciliations(
        &self,
        wanted: &ReconciliationFilter,
    ) -> Result<Vec<Reconciliation>, Error> {
        let doing = "listing reconciliations";
        let mut query: Vec<(&str, String)> = Vec::new();
        query.extend(wanted.runtimes.iter().map(|runtime| ("runtimeID", runtime.clone())));
        query.extend(wanted.statuses.iter().map(|status| ("status", status.clone())));
        query.extend(wanted.last.map(|last| ("last", last.to_string())));
        let request = self.http.get("/v1/reconciliations").query(&query);
        self.http.send_to("list reconciliations", doing, request).await?.json()
    }

    /// All that is known about one round, as the Reconciler says it.
    pub async fn reconciliation(&self, scheduling: &str) -> Result<Value, Error> {
        let doing = format!("reading reconciliation {scheduling}");
        let path = self.path(&doing, "/v1/reconciliations", &[scheduling], "/info")?;
        self.http.send_to("reconciliation info", &doing, self.http.get(&path)).await?.json()
    }

    /// Has a round log all that it does.
    pub async fn debug_reconciliation(&self, scheduling: &str) -> Result<(), Error> {
        let doing = format!("debugging reconciliation {scheduling}");
        let path = self.path(&doing, "/v1/reconciliations", &[scheduling], "/debug")?;
        self.http.send_to("debug reconciliation", &doing, self.http.put(&path)).await.map(|_| ())
    }

    /// Forgets the rounds of a runtime; none there are none left.
    pub async fn forget_reconciliations(&self, runtime: &str) -> Result<(), Error> {
        let doing = format!("forgetting the reconciliations of runtime {runtime}");
        let path = self.path(&doing, "/v1/reconciliations/cluster", &[runtime], "")?;
        match self.http.send_to("delete reconciliations", &doing, self.http.delete(&path)).await {
            Err(error) if error.kind == Kind::NotFound => Ok(()),
            done => done.map(|_| ()),
        }
    }

    /// Stops the work on one component in one round.
    pub async fn stop_operation(
        &self,
        scheduling: &str,
        correlation: &str,
        reason: &str,
    ) -> Result<(), Error> {
        let doing = format!("stopping operation {correlation} of reconciliation {scheduling}");
        let path = self.path(&doing, "/v1/operations", &[scheduling, correlation], "/stop")?;
        let request = self.http.post(&path).json(&json!({ "reason": reason }));
        self.http.send_to("stop operation", &doing, request).await.map(|_| ())
    }

    /// The configuration of a cluster under one version, as the Reconciler keeps it.
    pub async fn configuration(&self, runtime: &str, version: i64) -> Result<Value, Error> {
        let doing = format!("reading what configuration {version} of runtime {runtime} says");
        let path = self.cluster(&doing, runtime, &format!("/config/{version}"))?;
        self.http.send_to("configuration", &doing, self.http.get(&path)).await?.json()
    }

    /// All that is kept about a cluster.
    pub async fn cluster_state(&self, runtime: &str) -> Result<Value, Error> {
        let doing = format!("reading all about runtime {runtime}");
        let request = self.http.get("/v1/clusters/state").query(&[("runtimeID", runtime)]);
        self.http.send_to("cluster state", &doing, request).await?.json()
    }

    fn path(&self, doing: &str, base: &str, names: &[&str], rest: &str) -> Result<String, Error> {
        let mut path = base.to_owned();
        for name in names {
            let name = segment(name).ok_or_else(|| {
                let refused = Kind::Refused { status: 400 };
                Error::new(self.http.component(), refused, doing).saying("this is no id")
            })?;
            path.push('/');
            path.push_str(&name);
        }
        Ok(path + rest)
    }
}
