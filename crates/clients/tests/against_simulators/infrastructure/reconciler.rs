//! The Reconciler: golden requests, versions, scripts, lost answers, hostile names.

use std::time::Duration;

use axum::{Json, response::IntoResponse};
use clients::{
    CallLimits, Kind,
    reconciler::{Cluster, ReconciliationFilter, Status},
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use simulators::trouble::Kind as Trouble;

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

#[tokio::test]
async fn a_cluster_is_reconciled_and_removed() {
    let world = World::new().await;
    let client = world.reconciler();
    client.check().await.unwrap();

    let applied = client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();
    let version = applied.configuration_version;
    let status = async || client.status("r-1", version).await.unwrap().map(|state| state.status);
    assert_eq!(applied.status, Status::ReconcilePending);
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(status().await, Some(Status::Reconciling));
    world.clock.advance(Duration::from_secs(4));
    assert_eq!(status().await, Some(Status::Ready));
    client.delete_cluster("r-1").await.unwrap();
    client.delete_cluster("r-1").await.unwrap();
    assert_eq!(status().await, Some(Status::DeletePending));
    world.clock.advance(Duration::from_mins(1));

    assert_eq!(status().await, None);
    assert_eq!(client.latest_status("r-1").await.unwrap(), None);
    client.delete_cluster("r-1").await.unwrap();
}

#[tokio::test]
async fn an_answer_that_was_lost_costs_no_second_version() {
    for kind in [Trouble::LostAnswer { status: None }, Trouble::LostAnswer { status: Some(502) }] {
        let world = World::new().await;
        let client = world.reconciler();
        world.trouble("reconciler", "POST", 1, kind);

        let first = client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap_err();
        let again = client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();

        assert!(matches!(first.kind, Kind::AnswerLost | Kind::Unavailable), "{first}");
        assert_eq!((again.cluster_version, again.configuration_version), (1, 1));
        let kept = world.objects("reconciler", "cluster").await;
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].1["configurations"], json!([1]));
    }
}

#[tokio::test]
async fn versions_grow_with_what_they_count() {
    let world = World::new().await;
    let client = world.reconciler();
    let mut asked = cluster_in(&world, "r-1");
    let versions = async |asked: &Cluster| {
        let state = client.apply_cluster(asked).await.unwrap();
        (state.cluster_version, state.configuration_version)
    };

    assert_eq!(versions(&asked).await, (1, 1));
    assert_eq!(versions(&asked).await, (1, 1));
    asked.kyma_config.version = "2.11".into();
    assert_eq!(versions(&asked).await, (1, 2));
    asked.kubeconfig = format!("{}# other\n", asked.kubeconfig.expose_secret()).into();
    assert_eq!(versions(&asked).await, (2, 2));
    assert_eq!(versions(&cluster_in(&world, "r-2")).await, (3, 3));
}

#[tokio::test]
async fn failing_rounds_look_like_work_until_it_works_or_gives_up() {
    let world = World::new().await;
    let client = world.reconciler();
    let failures = json!([{"component": "istio", "reason": "no pods"}]);
    world
        .order("reconciler", "fail-rounds", json!({"id": "r-1", "rounds": 2, "failures": failures}))
        .await;
    world.order("reconciler", "fail", json!({"id": "r-2", "failures": failures})).await;
    let first =
        client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap().configuration_version;
    let second =
        client.apply_cluster(&cluster_in(&world, "r-2")).await.unwrap().configuration_version;

    world.clock.advance(Duration::from_secs(6));

    let working = client.status("r-1", first).await.unwrap().unwrap();
    assert_eq!(
        (working.status, working.failures[0].component.as_str()),
        (Status::Reconciling, "istio")
    );
    let failed = client.status("r-2", second).await.unwrap().unwrap();
    assert_eq!((failed.status, failed.failures[0].reason.as_str()), (Status::Error, "no pods"));
    world.clock.advance(Duration::from_mins(1));
    let ready = client.status("r-1", first).await.unwrap().unwrap();
    assert_eq!((ready.status, ready.failures.len()), (Status::Ready, 0));
}

#[tokio::test]
async fn what_the_reconciler_may_say_is_understood() {
    let world = World::new().await;
    let client = world.reconciler();
    world.order("reconciler", "null-failures", json!({"on": true})).await;
    client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();
    world.order("reconciler", "show-status", json!({"id": "r-1", "status": "resting"})).await;

    let state = client.latest_status("r-1").await.unwrap().unwrap();

    assert_eq!((state.status, state.failures.len()), (Status::Other("resting".into()), 0));
}

#[tokio::test]
async fn a_cluster_that_is_kept_off_stays_so_when_it_is_applied() {
    let world = World::new().await;
    let client = world.reconciler();
    client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();

    client.force_status("r-1", &Status::ReconcileDisabled).await.unwrap();
    let again = client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();

    assert_eq!(again.status, Status::ReconcileDisabled);
    let history = client.status_changes("r-1", Duration::from_hours(1)).await.unwrap();
    assert_eq!(history.first().unwrap().status, Status::ReconcilePending);
    assert_eq!(history.last().unwrap().status, Status::ReconcileDisabled);
}

#[tokio::test]
async fn what_cannot_be_applied_is_refused_for_good() {
    let world = World::new().await;
    let client = world.reconciler();
    let mut large = cluster_in(&world, "r-1");
    large.kyma_config.administrators = vec!["x".repeat(100_001)];
    world.order("reconciler", "refuse-kubeconfig", json!({"id": "r-2"})).await;

    for asked in [large, cluster_in(&world, "r-2")] {
        let error = client.apply_cluster(&asked).await.unwrap_err();
        assert_eq!(error.kind, Kind::Refused { status: 400 });
        assert!(error.said.is_some());
    }
    assert!(world.objects("reconciler", "cluster").await.is_empty());
}

#[tokio::test]
async fn a_deletion_can_stick_or_give_up() {
    let world = World::new().await;
    let client = world.reconciler();
    for id in ["r-1", "r-2", "r-3"] {
        client.apply_cluster(&cluster_in(&world, id)).await.unwrap();
    }
    world.order("reconciler", "stick-deletion", json!({"id": "r-1"})).await;
    world.order("reconciler", "fail-deletions", json!({"id": "r-2"})).await;
    world.order("reconciler", "fail-deletions", json!({"id": "r-3", "rounds": 2})).await;
    for id in ["r-1", "r-2", "r-3"] {
        client.delete_cluster(id).await.unwrap();
    }

    world.clock.advance(Duration::from_hours(1));

    let status = async |id| client.latest_status(id).await.unwrap().map(|state| state.status);
    assert_eq!(status("r-1").await, Some(Status::Deleting));
    assert_eq!(status("r-2").await, Some(Status::DeleteError));
    assert_eq!(status("r-3").await, None);
}

#[tokio::test]
async fn operators_see_rounds_and_what_is_kept() {
    let world = World::new().await;
    let client = world.reconciler();
    let version =
        client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap().configuration_version;
    world.clock.advance(Duration::from_mins(1));

    let rounds = client.reconciliations(&ReconciliationFilter::default()).await.unwrap();
    assert_eq!((rounds.len(), rounds[0].status.as_str()), (1, "ready"));
    let id = &rounds[0].scheduling_id;
    let info = client.reconciliation(id).await.unwrap();
    let correlation = info["operations"][0]["correlationID"].as_str().unwrap();
    assert_eq!(info["operations"][0]["component"], "btp-operator");
    client.debug_reconciliation(id).await.unwrap();
    let late = client.stop_operation(id, correlation, "no more").await.unwrap_err();
    assert_eq!(late.kind, Kind::Unauthorized);
    let says = client.configuration("r-1", version).await.unwrap();
    assert_eq!(says["version"], "2.10");
    assert!(!says.to_string().contains("s3tting-secret"));
    let kept = client.cluster_state("r-1").await.unwrap();
    assert_eq!(kept["status"]["status"], "ready");
    client.forget_reconciliations("r-1").await.unwrap();
    assert!(client.reconciliations(&ReconciliationFilter::default()).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_answer_for_another_runtime_is_not_believed() {
    let (url, _) = answering(|_, _| Json(state("r-2")).into_response()).await;
    let client = reconciler(url, CallLimits::DEFAULT, &noon());

    assert_eq!(client.apply_cluster(&cluster("r-1")).await.unwrap_err().kind, Kind::Malformed);
    assert_eq!(client.latest_status("r-1").await.unwrap_err().kind, Kind::Malformed);
}

#[tokio::test]
async fn a_wrong_type_names_the_field() {
    let (url, _) = answering(|_, _| {
        let mut state = state("r-1");
        state["configurationVersion"] = json!("hunter2");
        Json(state).into_response()
    })
    .await;

    let error =
        reconciler(url, CallLimits::DEFAULT, &noon()).latest_status("r-1").await.unwrap_err();

    assert_eq!(
        (error.kind, error.said.as_deref()),
        (Kind::Malformed, Some("field configurationVersion"))
    );
}

#[tokio::test]
async fn hostile_ids_stay_one_segment() {
    let world = World::new().await;
    let client = world.reconciler();
    let long = "ü".repeat(500);

    for id in ["a/b?c#d", "\"quoted\\\"", "new\nline", "%2e%2e", long.as_str()] {
        client.apply_cluster(&cluster_in(&world, id)).await.unwrap();
        assert_eq!(client.latest_status(id).await.unwrap().unwrap().cluster, id);
        client.delete_cluster(id).await.unwrap();
    }
    for id in ["", ".", ".."] {
        assert_eq!(
            client.delete_cluster(id).await.unwrap_err().kind,
            Kind::Refused { status: 400 }
        );
    }
}
