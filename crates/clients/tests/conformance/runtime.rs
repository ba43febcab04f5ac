//! Objects in runtime clusters: there after the call, however often it is made.

mod services;

use clients::{
    CallLimits, Kind,
    runtime::{Content, Runtime},
};
use serde_json::json;

use crate::kube_api::{KubeApi, status};

const SECRET: &str = "/api/v1/namespaces/kyma-system/secrets/compass-agent-configuration";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

async fn runtime(api: &KubeApi) -> Runtime {
    Runtime::new(api.cluster(CallLimits::DEFAULT).await, "kcp-provisioner")
}

fn content(token: &str) -> Content {
    let mut content = Content::default();
    content.data.insert("TOKEN".into(), token.to_owned().into());
    content.labels.insert("app".into(), "kyma".into());
    content
}

async fn write(runtime: &Runtime, token: &str) -> Result<(), clients::Error> {
    runtime.write_secret("kyma-system", "compass-agent-configuration", &content(token)).await
}

#[tokio::test]
async fn a_secret_is_made_then_overwritten_and_keeps_foreign_labels() {
    let api = KubeApi::default();
    let runtime = runtime(&api).await;

    api.lose(1);
    assert_eq!(write(&runtime, "first").await.unwrap_err().kind, Kind::AnswerLost);
    write(&runtime, "first").await.unwrap();
    let mut foreign = api.get(SECRET).unwrap();
    foreign["metadata"]["labels"]["theirs"] = json!("x");
    foreign["data"]["old"] = json!("eA==");
    api.put(SECRET, foreign);
    write(&runtime, "second").await.unwrap();

    let kept = api.get(SECRET).unwrap();
    assert_eq!(kept["data"], json!({"TOKEN": "c2Vjb25k"}));
    assert_eq!(kept["metadata"]["labels"], json!({"app": "kyma", "theirs": "x"}));
    assert_eq!((&kept["type"], &kept["kind"]), (&json!("Opaque"), &json!("Secret")));
    let read = runtime.secret("kyma-system", "compass-agent-configuration").await.unwrap();
    assert_eq!(read.unwrap()["TOKEN"], b"second");
}

#[tokio::test]
async fn a_missing_namespace_is_made() {
    let api = KubeApi::default();
    let runtime = runtime(&api).await;
    let other = api.clone();
    api.instead(move |heard| {
        let inside = heard.method == "POST" && heard.path.ends_with("/secrets");
        let missing = other.get("/api/v1/namespaces/kyma-system").is_none();
        (inside && missing).then(|| status(404, "NotFound"))
    });

    write(&runtime, "first").await.unwrap();
    runtime.ensure_namespace("kyma-system").await.unwrap();

    assert!(api.get("/api/v1/namespaces/kyma-system").is_some());
    assert!(api.get(SECRET).is_some());
    runtime.delete_secret("kyma-system", "compass-agent-configuration").await.unwrap();
    runtime.delete_secret("kyma-system", "compass-agent-configuration").await.unwrap();
    assert!(api.get(SECRET).is_none());
}

#[tokio::test]
async fn administrators_are_exactly_those_named() {
    let api = KubeApi::default();
    let runtime = runtime(&api).await;
    api.put(&format!("{BINDINGS}/theirs"), json!({"metadata": {"labels": {"type": "admin"}}}));
    let users = |users: &[&str]| users.iter().map(|user| (*user).to_owned()).collect::<Vec<_>>();
    let three = users(&["a@b", "we\"ird\n", "ü"]);

    api.lose(1);
    assert_eq!(runtime.set_administrators(&three).await.unwrap_err().kind, Kind::AnswerLost);
    for _ in 0..2 {
        runtime.set_administrators(&three).await.unwrap();
        assert_eq!(runtime.administrators().await.unwrap(), three);
    }
    runtime.set_administrators(&users(&["new@b"])).await.unwrap();

    assert_eq!(runtime.administrators().await.unwrap(), ["new@b"]);
    assert!(api.get(&format!("{BINDINGS}/administrator1")).is_none());
    assert!(api.get(&format!("{BINDINGS}/theirs")).is_some());
    let binding = api.get(&format!("{BINDINGS}/administrator0")).unwrap();
    assert_eq!(binding["roleRef"]["name"], "cluster-admin");
    assert_eq!(
        binding["metadata"]["labels"]["reconciler.kyma-project.io/managed-by"],
        "reconciler"
    );
}

#[tokio::test]
async fn operators_have_their_roles_however_often_they_are_made() {
    let api = KubeApi::default();
    let runtime = runtime(&api).await;

    runtime.ensure_operators(&clients::runtime::Groups::default()).await.unwrap();
    runtime.ensure_operators(&clients::runtime::Groups::default()).await.unwrap();

    let at = |kind: &str, name: &str| {
        api.get(&format!("/apis/rbac.authorization.k8s.io/v1/{kind}/{name}")).unwrap()
    };
    assert_eq!(
        at("clusterroles", "l2-operator-rules")["rules"][0]["verbs"],
        json!(["get", "list", "watch"])
    );
    assert!(at("clusterroles", "l2-operator")["aggregationRule"].is_object());
    assert_eq!(at("clusterrolebindings", "l2-operator")["subjects"][0]["name"], "runtimeOperator");
    assert_eq!(at("clusterrolebindings", "l3-operator-admin")["roleRef"]["name"], "cluster-admin");
}
