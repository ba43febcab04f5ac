//! What a kubeconfig may hold, and the clients that are kept for them.

use std::num::NonZeroUsize;

use base::Clock;
use clients::{
    CallLimits, Component, Gate, Kind,
    kubernetes::{Cluster, Clusters, Networks, Objects},
};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::MAPS;
use crate::kube_api::KubeApi;

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
