//! The agent in a runtime cluster, and what the service manager's brokers leave there.

use axum::response::IntoResponse;
use clients::runtime::Connection;
use serde_json::{Value, json};

use super::runtime;
use crate::kube_api::KubeApi;

#[tokio::test]
async fn the_agents_state_says_whether_it_has_connected() {
    let table = [
        ("Synchronized", Connection::Connected),
        ("SynchronizationFailed", Connection::Connected),
        ("MetadataUpdateFailed", Connection::Connected),
        ("ConnectionFailed", Connection::Failed),
        ("Connected", Connection::Pending("Connected".into())),
        ("", Connection::Missing),
    ];
    let path = "/apis/compass.kyma-project.io/v1alpha1/compassconnections/compass-connection";
    let api = KubeApi::default();
    let runtime = runtime(&api).await;

    assert_eq!(runtime.connection().await.unwrap(), Connection::Missing);
    for (state, connection) in table {
        api.put(path, json!({"status": {"connectionState": state}}));
        assert_eq!(runtime.connection().await.unwrap(), connection);
    }
    api.put(path, json!({"spec": Value::Null}));
    assert_eq!(runtime.connection().await.unwrap(), Connection::Missing);
    // The kind itself is not there yet.
    api.instead(|_| {
        Some((axum::http::StatusCode::NOT_FOUND, "404 page not found").into_response())
    });
    assert_eq!(runtime.connection().await.unwrap(), Connection::Missing);
}

#[tokio::test]
async fn what_the_service_managers_brokers_made_is_removed_and_nothing_of_others() {
    const CATALOG: &str = "/apis/servicecatalog.k8s.io/v1beta1";
    let api = KubeApi::default();
    let runtime = runtime(&api).await;
    let broker = |name: &str| format!("{CATALOG}/clusterservicebrokers/{name}");
    let instance = |name: &str| format!("{CATALOG}/namespaces/shop/serviceinstances/{name}");
    let made = [
        ("theirs", "https://service-manager.cfapps.example.test"),
        ("another", "https://broker.example.test/?of=https://service-manager."),
    ];
    for (name, url) in made {
        let finalizers = ["kubernetes-incubator/service-catalog"];
        let metadata = json!({"name": name, "finalizers": finalizers});
        api.put(&broker(name), json!({"metadata": metadata, "spec": {"url": url}}));
        let class = json!({
            "metadata": {"name": format!("class-{name}")},
            "spec": {"clusterServiceBrokerName": name},
        });
        api.put(&format!("{CATALOG}/clusterserviceclasses/class-{name}"), class);
        let spec = json!({"clusterServiceClassRef": {"name": format!("class-{name}")}});
        let metadata = json!({"name": name, "namespace": "shop"});
        api.put(&instance(name), json!({"metadata": metadata, "spec": spec}));
    }
    let (all, paths) = (api.clone(), made.map(|(name, _)| instance(name)));
    api.instead(move |heard| {
        let everywhere = format!("{CATALOG}/serviceinstances");
        (heard.method == "GET" && heard.path.starts_with(&everywhere)).then(|| {
            let items: Vec<_> = paths.iter().filter_map(|path| all.get(path)).collect();
            let list = json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items});
            axum::Json(list).into_response()
        })
    });

    let left = runtime.clean_service_catalog("https://service-manager.").await.unwrap();

    assert_eq!(left, 1, "it goes, and is not gone yet");
    assert_eq!(api.get(&instance("theirs")), None);
    assert!(api.get(&instance("another")).is_some());
    for (name, _) in made {
        assert_eq!(
            api.get(&broker(name)).unwrap()["metadata"]["finalizers"],
            Value::Null,
            "{name}"
        );
    }
    assert_eq!(runtime.clean_service_catalog("https://service-manager.").await.unwrap(), 0);
}
