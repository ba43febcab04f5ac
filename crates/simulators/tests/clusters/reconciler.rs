//! The Reconciler in runtimes: what it installs is there, and it goes in with the kubeconfig that it was given.

use serde_json::{Value, json};

use crate::world::World;

fn payload(kubeconfig: &str, version: &str, components: &[&str]) -> Value {
    let component =
        |name: &&str| json!({"component": name, "namespace": "kyma-system", "configuration": []});
    json!({
        "runtimeID": "r-1",
        "runtimeInput": {"name": "one", "description": ""},
        "kymaConfig": {
            "version": version, "profile": "Production", "administrators": [],
            "components": components.iter().map(component).collect::<Vec<_>>(),
        },
        "metadata": {},
        "kubeconfig": kubeconfig,
    })
}

async fn apply(world: &World, payload: &Value) -> (u16, Value) {
    let url = format!("{}/reconciler/v1/clusters", world.running.url);
    let answer = world.http.post(url).json(payload).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

async fn status(world: &World) -> String {
    let url = format!("{}/reconciler/v1/clusters/r-1/status", world.running.url);
    let answer: Value = world.http.get(url).send().await.unwrap().json().await.unwrap();
    answer["status"].as_str().unwrap_or_default().to_owned()
}

fn deployments(world: &World) -> Vec<(String, String)> {
    let all = world.running.clusters().server().list("inside", "deployments.apps");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.iter()
        .map(|one| {
            let labels = &one["metadata"]["labels"];
            (word(&one["metadata"]["name"]), word(&labels["app.kubernetes.io/version"]))
        })
        .collect()
}

#[tokio::test]
async fn what_the_reconciler_installs_is_in_the_runtime_with_its_version() {
    let world = World::new().await;
    world.runtime("inside").await;
    let kubeconfig = world.running.clusters().kubeconfig("inside").unwrap();
    let pair = |name: &str, version: &str| (name.to_owned(), version.to_owned());

    let (code, _) = apply(&world, &payload(&kubeconfig, "2.10.0", &["istio", "serverless"])).await;
    let first = (status(&world).await, deployments(&world));
    apply(&world, &payload(&kubeconfig, "2.11.0", &["istio"])).await;
    let second = (status(&world).await, deployments(&world));

    assert_eq!(code, 200);
    let both = vec![pair("istio", "2.10.0"), pair("serverless", "2.10.0")];
    assert_eq!(first, ("ready".to_owned(), both));
    assert_eq!(second, ("ready".to_owned(), vec![pair("istio", "2.11.0")]));
    let server = world.running.clusters().server();
    let istio = server.get("inside", "deployments.apps", "kyma-system", "istio").unwrap();
    assert_eq!(istio["status"]["readyReplicas"], 1);
    assert!(server.get("inside", "namespaces", "", "kyma-system").is_some());
}

#[tokio::test]
async fn a_kubeconfig_that_does_not_open_its_cluster_is_refused() {
    let world = World::new().await;
    world.runtime("inside").await;
    let good = world.running.clusters().kubeconfig("inside").unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server =
        format!("https://127.0.0.1:{}", world.running.clusters().server().address().port());
    let wrong = [
        good.replace("/inside", "/gone"),
        good.replace("token: ", "token: x"),
        good.replace(&server, &format!("https://{closed}")),
        "clusters: and users: but no kubeconfig".to_owned(),
    ];

    for kubeconfig in wrong {
        let (code, said) = apply(&world, &payload(&kubeconfig, "2.10.0", &["istio"])).await;
        assert_eq!(code, 400);
        assert!(said["error"].as_str().unwrap().contains("list namespaces"), "{said}");
    }
    let mut other = payload(&good, "2.10.0", &["istio"]);
    other["metadata"]["shootName"] = json!("another");
    assert_eq!(apply(&world, &other).await.0, 400);
    world.order("runtimes", "refuse", &json!({"id": "inside"})).await;
    assert_eq!(apply(&world, &payload(&good, "2.10.0", &["istio"])).await.0, 400);
    assert_eq!(deployments(&world), []);
}
