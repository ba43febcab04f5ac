//! The Reconciler: golden requests.

mod answers;
mod operators;
mod versions;

use std::time::Duration;

use axum::{Json, response::IntoResponse};
use clients::{
    CallLimits,
    reconciler::{Cluster, ReconciliationFilter, Status},
};
use serde_json::{Value, json};

use super::{
    payload::{KUBECONFIG, cluster},
    support::{answering, noon},
    world::{World, reconciler},
};

/// A cluster with a kubeconfig that opens a runtime.
pub(crate) fn cluster_in(world: &World, id: &str) -> Cluster {
    let clusters = world.running.clusters();
    clusters.create_runtime("c-1").unwrap();
    // The end of the other one shows where kubeconfigs must not be.
    let kubeconfig = format!("{}# kub3config-token-long\n", clusters.kubeconfig("c-1").unwrap());
    Cluster { kubeconfig: kubeconfig.into(), ..cluster(id) }
}

fn state(id: &str) -> Value {
    json!({
        "cluster": id, "clusterVersion": 1, "configurationVersion": 7, "new": {"field": 1},
        "status": "reconcile_pending", "failures": null, "statusURL": "http://x",
    })
}

#[tokio::test]
async fn requests_are_what_the_reconciler_documents() {
    let (url, heard) = answering(|_, heard| {
        if heard.path.ends_with("statusChanges") {
            let change =
                json!({"started": "2026-01-01T12:00:00Z", "duration": 5, "status": "ready"});
            return Json(json!({"statusChanges": [change]})).into_response();
        }
        if heard.path == "/v1/reconciliations" {
            return Json(json!([{"schedulingID": "s", "runtimeID": "r-1", "status": "ready"}]))
                .into_response();
        }
        Json(state("r-1")).into_response()
    })
    .await;
    let client = reconciler(url, CallLimits::DEFAULT, &noon());

    let applied = client.apply_cluster(&cluster("r-1")).await.unwrap();
    client.status("r-1", 7).await.unwrap().unwrap();
    client.latest_status("r-1").await.unwrap().unwrap();
    client.force_status("r-1", &Status::ReconcileDisabled).await.unwrap();
    client.delete_cluster("r-1").await.unwrap();
    let changes = client.status_changes("r-1", Duration::from_hours(24)).await.unwrap();
    let wanted = ReconciliationFilter {
        runtimes: vec!["r-1".into()],
        last: Some(3),
        ..ReconciliationFilter::default()
    };
    client.reconciliations(&wanted).await.unwrap();
    client.check().await.unwrap();

    assert_eq!((applied.configuration_version, applied.failures.len()), (7, 0));
    assert_eq!(
        (changes[0].duration, &changes[0].status),
        (Duration::from_nanos(5), &Status::Ready)
    );
    let golden = [
        ("POST", "/v1/clusters", ""),
        ("GET", "/v1/clusters/r-1/configs/7/status", ""),
        ("GET", "/v1/clusters/r-1/status", ""),
        ("PUT", "/v1/clusters/r-1/status", ""),
        ("DELETE", "/v1/clusters/r-1", ""),
        ("GET", "/v1/clusters/r-1/statusChanges", "offset=1440m"),
        ("GET", "/v1/reconciliations", "runtimeID=r-1&last=3"),
        ("GET", "/health/ready", ""),
    ];
    let all = heard.all();
    let lines: Vec<_> =
        all.iter().map(|it| (it.method.as_str(), it.path.as_str(), it.query.as_str())).collect();
    assert_eq!(lines, golden);
    assert_eq!(all[0].header("content-type"), Some("application/json"));
    assert_eq!(all[3].json(), json!({"status": "reconcile_disabled"}));
    let payload = json!({
        "runtimeID": "r-1",
        "runtimeInput": {"name": "my runtime", "description": ""},
        "kymaConfig": {
            "version": "2.10", "profile": "Production", "administrators": ["jane@example.com"],
            "components": [{
                "component": "btp-operator", "namespace": "kyma-system",
                "URL": "https://example.com/btp.tgz", "version": "1.0",
                "configuration": [
                    {"key": "global.domainName", "value": "c-1.example.com", "secret": false},
                    {"key": "manager.secret.clientsecret", "value": "s3tting-secret", "secret": true},
                    {"key": "enabled", "value": true, "secret": false},
                ],
            }],
        },
        "metadata": {
            "globalAccountID": "ga", "subAccountID": "sa", "serviceID": "service",
            "servicePlanID": "plan", "servicePlanName": "aws", "shootName": "c-1",
            "instanceID": "i-1", "region": "eu-central-1",
        },
        "kubeconfig": KUBECONFIG,
    });
    assert_eq!(all[0].json(), payload);
}
