//! From a Shoot to a runtime that is connected, sleeps, wakes and goes.

mod scenarios;

use k8s_openapi::api::core::v1::Node;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, PostParams},
};
use serde_json::{Value, json};

use crate::world::{PROJECT, World, connect, connection_in, install_agent, until};

fn shoots(client: &Client) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", "Shoot");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "shoots");
    Api::namespaced_with(client.clone(), PROJECT, &resource)
}

fn shoot(name: &str) -> DynamicObject {
    let gvk = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", "Shoot");
    let version = "aws.provider.extensions.gardener.cloud/v1alpha1";
    DynamicObject::new(name, &ApiResource::from_gvk_with_plural(&gvk, "shoots")).data(json!({"spec": {
        "cloudProfileName": "aws",
        "region": "eu-central-1",
        "secretBindingName": "aws-free-1",
        "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
        "kubernetes": {"version": "1.25.6"},
        "provider": {
            "type": "aws",
            "infrastructureConfig": {"kind": "InfrastructureConfig", "apiVersion": version, "networks": {
                "vpc": {"cidr": "10.250.0.0/16"},
                "zones": [{
                    "name": "eu-central-1a", "internal": "10.250.48.0/20",
                    "public": "10.250.32.0/20", "workers": "10.250.0.0/19",
                }],
            }},
            "workers": [{
                "name": "cpu-worker-0", "machine": {"type": "m5.xlarge"}, "minimum": 3, "maximum": 10,
                "maxSurge": 3, "maxUnavailable": 0, "volume": {"type": "gp3", "size": "50Gi"},
                "zones": ["eu-central-1a"],
            }],
        },
    }}))
}

async fn ready(shoots: &Api<DynamicObject>, name: &str, hibernated: bool) -> DynamicObject {
    until(shoots, name, |found| {
        let status = &found.data["status"];
        status["lastOperation"]["state"] == "Succeeded"
            && status["observedGeneration"].as_i64() == found.metadata.generation
            && (status["hibernated"] == true) == hibernated
    })
    .await
}

/// A client with the kubeconfig that the garden gives away.
async fn opened(garden: &Client, name: &str) -> Client {
    let path = format!(
        "/apis/core.gardener.cloud/v1beta1/namespaces/{PROJECT}/shoots/{name}/adminkubeconfig"
    );
    let body = json!({
        "apiVersion": "authentication.gardener.cloud/v1alpha1", "kind": "AdminKubeconfigRequest",
        "spec": {"expirationSeconds": 3600},
    });
    let request = axum::http::Request::post(path)
        .header("content-type", "application/json")
        .body(serde_json::to_vec(&body).unwrap())
        .unwrap();
    let answer: Value = garden.request(request).await.unwrap();
    let text = answer["status"]["kubeconfig"].as_str().unwrap();
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).unwrap();
    connect(&String::from_utf8(bytes).unwrap(), &[]).await
}

async fn made(world: &World, name: &str) -> (Client, Api<DynamicObject>) {
    let garden = world.client("garden").await;
    let shoots = shoots(&garden);
    shoots.create(&PostParams::default(), &shoot(name)).await.unwrap();
    ready(&shoots, name, false).await;
    (garden, shoots)
}

#[tokio::test]
async fn a_shoot_becomes_a_runtime_that_connects() {
    let world = World::new().await;
    let (garden, _) = made(&world, "abc").await;
    let id = world.registered("abc").await;

    let runtime = opened(&garden, "abc").await;
    install_agent(&runtime).await;
    world.configure(&runtime, &id).await;

    connection_in(&runtime, "Synchronized").await;
    assert_eq!(world.registration(&id).await["status"]["condition"], "CONNECTED");
    let shown = world.objects("runtimes").await;
    assert_eq!(shown[0]["value"]["connection"], "Synchronized");
    assert!(
        world.objects("gardener").await.iter().any(|one| one["id"] == format!("{PROJECT}/abc"))
    );
}

#[tokio::test]
async fn a_runtime_has_as_many_nodes_as_its_workers_have_at_least_in_the_version_of_the_shoot() {
    let world = World::new().await;
    let (garden, shoots) = made(&world, "abc").await;
    let workers = shoots.get("abc").await.unwrap().data["spec"]["provider"]["workers"].clone();
    let least: u64 =
        workers.as_array().unwrap().iter().map(|pool| pool["minimum"].as_u64().unwrap()).sum();

    let nodes: Api<Node> = Api::all(opened(&garden, "abc").await);
    let all = nodes.list(&ListParams::default()).await.unwrap().items;

    assert_eq!((all.len(), least), (3, 3));
    for node in all {
        assert_eq!(node.status.unwrap().node_info.unwrap().kubelet_version, "v1.25.6");
    }
}
