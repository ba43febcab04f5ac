//! Clusters as callers hand them over, watch them and take them away.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clusters::{Leads, open_elsewhere};

use super::{
    BASE, Reconciler,
    error::Refusal,
    payload::{Payload, UNREACHABLE},
    records::{AppliedCluster, Cluster, Config, Event, Failing, Records, Status},
};

/// Takes a cluster over, or learns what is new about it.
pub(super) async fn apply(
    State(reconciler): State<Arc<Reconciler>>,
    body: Bytes,
) -> Result<Json<Value>, Refusal> {
    reconciler.settle()?;
    let payload = Payload::read(&body)?;
    let runtime = reached(&reconciler, &payload).await?;
    let at = reconciler.clock.now();
    let answer = reconciler.known.change(|known| {
        let script = known.scripts.get(&payload.runtime_id);
        if script.is_some_and(|script| script.refuses_kubeconfig) {
            return Err(Refusal::BadRequest(UNREACHABLE.into()));
        }
        let applied = AppliedCluster { runtime, ..applied(known, payload, at) };
        let (version, config) = (applied.version, &applied.config);
        let state = (version, config.version, config.status);
        let answer = shown(&reconciler, known, &applied.id, state, &[], None);
        Ok((Some(Event::Applied(Box::new(applied))), answer))
    })?;
    Ok(Json(answer))
}

/// Versions grow only with what they count.
fn applied(known: &Records, payload: Payload, at: Timestamp) -> AppliedCluster {
    let before = known.clusters.get(&payload.runtime_id);
    let digest = payload.cluster_digest();
    let version = before
        .filter(|cluster| cluster.digest == digest)
        .map_or(known.cluster_versions + 1, |cluster| cluster.version);
    let config_digest = payload.kyma_config.digest();
    let last = before.and_then(|cluster| cluster.configs.last());
    let config_version = last
        .filter(|config| config.digest == config_digest)
        .map_or(known.config_versions + 1, |config| config.version);
    let disabled = before.is_some_and(|cluster| cluster.status == Status::ReconcileDisabled);
    let parts = payload.kyma_config.parts();
    let config = Config {
        version: config_version,
        cluster_version: version,
        digest: config_digest,
        says: payload.kyma_config.without_secrets(),
        parts,
        status: if disabled { Status::ReconcileDisabled } else { Status::ReconcilePending },
    };
    let Payload { runtime_id: id, runtime_input, metadata, .. } = payload;
    AppliedCluster { id, runtime_input, metadata, digest, version, config, at, runtime: None }
}

/// The runtime that the kubeconfig opens, if it is one of the landscape. A kubeconfig that opens nothing is refused, and
/// one that opens the cluster of another runtime. Clusters that customers bring have names of their own.
async fn reached(reconciler: &Reconciler, payload: &Payload) -> Result<Option<String>, Refusal> {
    let Some(visits) = reconciler.visits.get() else { return Ok(None) };
    let refused = |why: String| Err(Refusal::BadRequest(format!("{UNREACHABLE}: {why}")));
    let brought = payload.metadata["servicePlanName"] == "own_cluster";
    let shoot = payload.metadata["shootName"].as_str();
    let shoot = shoot.filter(|shoot| !shoot.is_empty() && !brought);
    match visits.leads(&payload.kubeconfig).await {
        Leads::To(runtime) if shoot.is_some_and(|shoot| shoot != runtime) => {
            refused(format!("it opens {runtime} and not the cluster of this runtime"))
        }
        Leads::To(runtime) => Ok(Some(runtime)),
        Leads::Elsewhere => match open_elsewhere(&payload.kubeconfig).await {
            Ok(()) => Ok(None),
            Err(why) => refused(why),
        },
        Leads::Nowhere(why) | Leads::Refused(why) => refused(why),
    }
}

/// How far one configuration is.
pub(super) async fn status(
    State(reconciler): State<Arc<Reconciler>>,
    Path((runtime, version)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    reconciler.settle()?;
    let number: i64 = version.parse().map_err(|_| {
        Refusal::BadRequest(format!("configuration version {version} is no number"))
    })?;
    reconciler.known.read(|known| {
        let cluster = found(known, &runtime)?;
        let config = cluster.configs.iter().find(|config| config.version == number);
        let config = config.ok_or_else(|| {
            Refusal::NotFound(format!("cluster {runtime} has no configuration {version}"))
        })?;
        Ok(Json(seen(&reconciler, known, &runtime, cluster, config)))
    })
}

/// How far the latest configuration is.
pub(super) async fn latest(
    State(reconciler): State<Arc<Reconciler>>,
    Path(runtime): Path<String>,
) -> Result<Json<Value>, Refusal> {
    reconciler.settle()?;
    reconciler.known.read(|known| {
        let cluster = found(known, &runtime)?;
        let config = cluster.configs.last().ok_or(Refusal::Internal)?;
        Ok(Json(seen(&reconciler, known, &runtime, cluster, config)))
    })
}

#[derive(Deserialize)]
struct ForcedStatus {
    status: Status,
}

/// Sets the status by hand.
pub(super) async fn force(
    State(reconciler): State<Arc<Reconciler>>,
    Path(runtime): Path<String>,
    body: Bytes,
) -> Result<Json<Value>, Refusal> {
    reconciler.settle()?;
    let ForcedStatus { status } = serde_json::from_slice(&body).map_err(|error| {
        Refusal::BadRequest(format!("Failed to unmarshal JSON payload: {error}"))
    })?;
    moved(&reconciler, &runtime, status)
}

/// Takes a cluster away, later.
pub(super) async fn delete(
    State(reconciler): State<Arc<Reconciler>>,
    Path(runtime): Path<String>,
) -> Result<Json<Value>, Refusal> {
    reconciler.settle()?;
    moved(&reconciler, &runtime, Status::DeletePending)
}

fn moved(reconciler: &Reconciler, runtime: &str, status: Status) -> Result<Json<Value>, Refusal> {
    let at = reconciler.clock.now();
    let answer = reconciler.known.change(|known| {
        let cluster = found(known, runtime)?;
        let config = cluster.configs.last().map_or(0, |config| config.version);
        let state = (cluster.version, config, status);
        let answer = shown(reconciler, known, runtime, state, &[], None);
        let (id, failures) = (runtime.into(), Vec::new());
        let event = Event::Moved { id, status, at, failed_rounds: 0, failures };
        Ok::<_, Refusal>((Some(event), answer))
    })?;
    Ok(Json(answer))
}

pub(super) fn found<'a>(known: &'a Records, runtime: &str) -> Result<&'a Cluster, Refusal> {
    let missing = || Refusal::NotFound(format!("cluster with runtimeID '{runtime}' not found"));
    known.clusters.get(runtime).ok_or_else(missing)
}

fn seen(
    reconciler: &Reconciler,
    known: &Records,
    runtime: &str,
    cluster: &Cluster,
    config: &Config,
) -> Value {
    let state = (config.cluster_version, config.version, config.status);
    shown(reconciler, known, runtime, state, &cluster.failures, cluster.word.as_deref())
}

fn shown(
    reconciler: &Reconciler,
    known: &Records,
    runtime: &str,
    (version, config, status): (i64, i64, Status),
    failures: &[Failing],
    word: Option<&str>,
) -> Value {
    let url = reconciler.issuer.url();
    let status = word.map_or_else(|| json!(status.shown()), |word| json!(word));
    let failures = (!known.null_failures || !failures.is_empty()).then_some(failures);
    json!({
        "cluster": runtime,
        "clusterVersion": version,
        "configurationVersion": config,
        "status": status,
        "failures": failures,
        "statusURL": format!("{url}{BASE}/v1/clusters/{runtime}/configs/{config}/status"),
    })
}
