//! Clients of clusters: who is calling, and through which gate.

mod answers;
mod interruptions;
mod kubeconfigs;

use clients::{
    CallLimits, Component, Kind,
    kubernetes::{Objects, Resource, classified},
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::Value;

use crate::{
    kube_api::{KubeApi, said},
    support::caller,
};

const MAPS: Resource = Resource::core("ConfigMap", "configmaps");

async fn maps(api: &KubeApi) -> Objects<Value> {
    api.cluster(CallLimits::DEFAULT).await.objects(MAPS, Some("a"))
}

#[tokio::test]
async fn calls_carry_their_caller_and_a_key_that_stays() {
    let api = KubeApi::default();
    let maps = maps(&api).await;
    let twice = async || {
        let _ = maps.find("one").await.unwrap();
        let _ = maps.find("two").await.unwrap();
    };

    caller(1).scope(twice()).await;
    caller(2).scope(twice()).await;

    let heard = api.journal.all();
    let header = |at: usize, name: &str| heard[at].header(name).unwrap().to_owned();
    assert!(header(0, "idempotency-key").ends_with("/Look/1"));
    assert!(header(1, "idempotency-key").ends_with("/Look/2"));
    assert_eq!(header(0, "idempotency-key"), header(2, "idempotency-key"));
    assert_eq!((header(0, "x-kcp-run"), header(2, "x-kcp-run")), ("1".into(), "2".into()));
    assert_eq!(heard[0].path, "/api/v1/namespaces/a/configmaps/one");
}

#[tokio::test]
async fn kubes_own_methods_go_through_the_same_gate() {
    let api = KubeApi::default();
    api.instead(|_| Some(said(409, "Conflict", "it was changed")));
    let cluster = api.cluster(CallLimits::DEFAULT).await;
    let maps: kube::Api<ConfigMap> = kube::Api::namespaced(cluster.client(), "a");

    let error = caller(1).scope(maps.get("one")).await.unwrap_err();

    let error = classified(Component::GARDENER, "reading it", error);
    assert_eq!((error.kind, error.reason.as_deref()), (Kind::Changed, Some("Conflict")));
    assert!(api.journal.last().header("idempotency-key").is_some());
}

#[tokio::test]
async fn hostile_names_reach_one_object_or_none() {
    let api = KubeApi::default();
    let maps = maps(&api).await;

    for name in ["a?b=c", "a b\"\\\n", "ü", "a#b"] {
        assert!(!maps.delete(name, None).await.unwrap(), "{name}");
        assert!(api.journal.last().path.starts_with("/api/v1/namespaces/a/configmaps/"));
        assert_eq!(api.journal.last().path.matches('/').count(), 6, "{name}");
    }
    let before = api.journal.len();
    for name in ["", ".", "..", "a/b", "%2e"] {
        let error = maps.delete(name, None).await.unwrap_err();
        assert_eq!(error.kind, Kind::Refused { status: 400 });
    }
    assert_eq!(api.journal.len(), before, "an empty name would mean all, a slash another one");
}
