//! Clients of clusters: who is calling, what a Status means, what a kubeconfig may hold.

use std::{num::NonZeroUsize, time::Duration};

use axum::response::IntoResponse;
use base::Clock;
use clients::{
    CallLimits, Component, Gate, Kind,
    kubernetes::{Cluster, Clusters, Networks, Objects, Resource, classified},
};
use k8s_openapi::api::core::v1::ConfigMap;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt, sync::mpsc};

use crate::{
    kube_api::{KubeApi, said, status},
    support::{behaving, caller, nobody, short},
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
async fn every_status_has_one_meaning() {
    let table = [
        (400, "BadRequest", Kind::Refused { status: 400 }, false),
        (401, "Unauthorized", Kind::Unauthorized, true),
        (403, "Forbidden", Kind::Unauthorized, true),
        (404, "NotFound", Kind::NotFound, false),
        (409, "AlreadyExists", Kind::AlreadyExists, false),
        (409, "Conflict", Kind::Changed, true),
        (410, "Expired", Kind::Changed, true),
        (422, "Invalid", Kind::Refused { status: 422 }, false),
        (429, "TooManyRequests", Kind::Throttled { retry_after: None }, true),
        (500, "InternalError", Kind::Unavailable, true),
        (503, "ServiceUnavailable", Kind::Unavailable, true),
        (504, "Timeout", Kind::Unavailable, true),
    ];

    for (code, reason, kind, retryable) in table {
        let api = KubeApi::default();
        api.instead(move |_| Some(status(code, reason)));
        let maps = maps(&api).await;

        let error = maps.create("one", &json!({"metadata": {"name": "one"}})).await.unwrap_err();

        assert_eq!((error.kind, error.kind.is_retryable()), (kind, retryable), "{code} {reason}");
        assert_eq!(error.failure().reason, reason);
        assert_eq!(&*error.doing, "creating ConfigMap one");
        assert_eq!(api.journal.len(), 1, "{code} is not tried again");
    }
}

#[tokio::test]
async fn a_server_may_ask_to_be_left_alone() {
    let api = KubeApi::default();
    api.instead(|_| {
        let mut answer = status(429, "TooManyRequests");
        answer.headers_mut().insert("retry-after", "9".parse().unwrap());
        Some(answer)
    });

    let error = maps(&api).await.get("one").await.unwrap_err();

    assert_eq!(error.kind, Kind::Throttled { retry_after: Some(Duration::from_secs(9)) });
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
async fn bad_answers_are_failures_and_name_the_field() {
    let endless = "x".repeat(200_000);
    let bodies = [("[", None), ("", None), (endless.as_str(), Some("the body is too large"))];
    for (body, said) in bodies {
        let (api, body) = (KubeApi::default(), body.to_owned());
        api.instead(move |_| Some(body.clone().into_response()));
        let limits = CallLimits { body: 100_000, ..CallLimits::DEFAULT };
        let maps: Objects<Value> = api.cluster(limits).await.objects(MAPS, Some("a"));

        let error = maps.get("one").await.unwrap_err();

        assert_eq!(error.kind, Kind::Malformed);
        assert!(said.is_none() || error.said.as_deref() == said);
    }
    let api = KubeApi::default();
    api.put("/api/v1/namespaces/a/configmaps/one", json!({"data": {"a": 5}}));
    let maps: Objects<ConfigMap> = api.cluster(CallLimits::DEFAULT).await.objects(MAPS, Some("a"));
    assert_eq!(maps.get("one").await.unwrap_err().said.as_deref(), Some("field data.a"));
}

#[tokio::test]
async fn a_lost_answer_and_a_missing_server_are_told_apart() {
    let api = KubeApi::default();
    api.lose(1);
    let cluster = api.cluster(CallLimits::DEFAULT).await;
    let maps: Objects<Value> = cluster.objects(MAPS, Some("a"));
    let error = maps.create("one", &json!({"metadata": {"name": "one"}})).await.unwrap_err();
    assert_eq!(error.kind, Kind::AnswerLost);
    assert!(api.get("/api/v1/namespaces/a/configmaps/one").is_some());

    let maps = cluster_at(&nobody().await, short());
    let error = maps.create("one", &json!({"metadata": {"name": "one"}})).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unavailable);
}

fn cluster_at(url: &url::Url, limits: CallLimits) -> Objects<Value> {
    let gate = Gate::new(Component::RUNTIME, limits, Clock::running());
    let config = kube::Config::new(url.as_str().parse().unwrap());
    Cluster::with(gate, &config).unwrap().objects(MAPS, Some("a"))
}

#[tokio::test]
async fn stalls_and_resets_end_in_time() {
    let stalls = behaving(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    });
    let resets = behaving(|stream| async move { drop(stream) });

    for url in [stalls.await, resets.await] {
        let maps = cluster_at(&url, short());
        let began = std::time::Instant::now();
        let read = maps.get("one").await.unwrap_err();
        let written = maps.merge("one", &json!({})).await.unwrap_err();

        assert_eq!((read.kind, written.kind), (Kind::Unavailable, Kind::AnswerLost));
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_call_that_is_called_off_frees_its_connection_and_its_turn() {
    let (began, mut begun) = mpsc::unbounded_channel();
    let (ended, mut end) = mpsc::unbounded_channel();
    let url = behaving(move |mut stream| {
        let (began, ended) = (began.clone(), ended.clone());
        async move {
            let mut buffer = [0; 4096];
            let _ = stream.read(&mut buffer).await;
            began.send(()).unwrap();
            let _ = stream.read(&mut buffer).await;
            ended.send(()).unwrap();
        }
    })
    .await;
    let maps = cluster_at(&url, CallLimits { at_once: 1, ..CallLimits::CLUSTER });

    for _ in 0..2 {
        tokio::select! {
            _ = maps.get("one") => panic!("nobody answers"),
            _ = begun.recv() => {}
        }
        end.recv().await.unwrap();
    }
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

fn kubeconfig(server: &str, user: &Value) -> SecretString {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
    })
    .to_string()
    .into()
}

#[tokio::test]
async fn a_kubeconfig_brings_its_own_credentials() {
    let api = KubeApi::default();
    let url = api.start().await;
    let gate = || Gate::new(Component::RUNTIME, CallLimits::DEFAULT, Clock::running());
    let config = kubeconfig(url.as_str(), &json!({"token": "hunter2"}));
    let cluster = Cluster::connect(gate(), &config).await.unwrap();

    let maps: Objects<Value> = cluster.objects(MAPS, Some("a"));
    maps.find("one").await.unwrap();

    assert_eq!(api.journal.last().header("authorization"), Some("Bearer hunter2"));
    let foreign = [
        json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "id"}}),
        json!({"tokenFile": "/etc/passwd"}),
        json!({"client-certificate": "/a", "client-key": "/b"}),
        json!({"auth-provider": {"name": "gcp", "config": {}}}),
    ];
    for user in foreign {
        let error = Cluster::connect(gate(), &kubeconfig(url.as_str(), &user)).await.unwrap_err();
        assert_eq!(error.kind, Kind::Malformed, "{user}");
        assert!(error.said.unwrap().ends_with("of this machine"));
    }
    for text in ["", "a: [", "apiVersion: v1\nkind: Config\n"] {
        let error = Cluster::connect(gate(), &text.to_owned().into()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Malformed);
    }
}

#[tokio::test]
async fn clients_are_kept_up_to_a_number_and_the_least_used_goes() {
    let three = NonZeroUsize::new(3).unwrap();
    let clusters = Clusters::new(Component::RUNTIME, CallLimits::DEFAULT, Clock::running(), three);
    let config = |number: u32| kubeconfig(&format!("http://c{number}"), &json!({"token": "t"}));

    for number in [1, 2, 3, 1, 4, 1] {
        clusters.get(&config(number)).await.unwrap();
    }

    assert_eq!(clusters.len(), 3);
    clusters.forget(&config(1));
    assert_eq!(clusters.len(), 2);
    clusters.forget(&config(2));
    assert_eq!(clusters.len(), 2, "the second was let go for the fourth");
}

#[tokio::test]
async fn a_customers_kubeconfig_leads_over_verified_tls_to_where_customers_may_go() {
    let one = NonZeroUsize::new(1).unwrap();
    let clusters = |networks: Networks| {
        Clusters::new(Component::RUNTIME, CallLimits::DEFAULT, Clock::running(), one)
            .of_customers(networks)
    };
    let (strict, local) = (
        clusters(Networks::default()),
        clusters(Networks::new(vec!["127.0.0.0/8".parse().unwrap()])),
    );
    let to = |server: &str| kubeconfig(server, &json!({"token": "t"}));
    let insecure: SecretString = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "https://a.test", "insecure-skip-tls-verify": true}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    })
    .to_string()
    .into();

    for refused in [
        to("http://a.test"),
        to("https://127.0.0.1:1"),
        to("https://[::1]:1"),
        to("https://10.0.0.1"),
        insecure,
    ] {
        let error = strict.get(&refused).await.unwrap_err();
        assert_eq!(error.kind, Kind::Refused { status: 400 }, "{error}");
    }
    assert!(
        strict.get(&to("https://a.test")).await.is_ok(),
        "a name is checked when it is connected to"
    );
    assert!(local.get(&to("https://127.0.0.1:1")).await.is_ok());
    assert!(local.get(&to("http://127.0.0.1:1")).await.is_err());
}
