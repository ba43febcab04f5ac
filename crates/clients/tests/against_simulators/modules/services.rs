//! Service bindings and instances: counted, deleted, let go of; every fault, and the repetition.

use std::time::Duration;

use clients::btp::{Btp, ManagerCredentials, RemainingServices};
use serde_json::json;

use super::{
    faults::{Expected, Fault, for_each_fault},
    world::{RUNTIME, World, changed, row},
};

const BINDINGS: &str = "servicebindings.services.cloud.sap.com";
const INSTANCES: &str = "serviceinstances.services.cloud.sap.com";
const LIST: &str = "/clusters/runtime/apis/services.cloud.sap.com/v1/servicebindings$";
const IN_NAMESPACE: &str =
    "/clusters/runtime/apis/services.cloud.sap.com/v1/namespaces/default/servicebindings";

/// A runtime whose operator has brought its kinds.
async fn with_kinds(world: &World) -> Btp {
    let btp = world.btp().await;
    let credentials = ManagerCredentials {
        client_id: "c".to_owned().into(),
        client_secret: "s".to_owned().into(),
        service_manager_url: "https://sm.example".into(),
        token_url: "https://uaa.example".into(),
        cluster_id: "1".into(),
    };
    btp.write_manager(&credentials).await.unwrap();
    let defined = || {
        let all = world.all(RUNTIME, "customresourcedefinitions.apiextensions.k8s.io");
        all.iter().filter(|one| one["spec"]["group"] == "services.cloud.sap.com").count()
    };
    for _ in 0..500 {
        if defined() == 2 {
            return btp;
        }
        world.clock.sleep(Duration::from_millis(20)).await;
    }
    panic!("the operator does not bring its kinds");
}

/// A runtime that has the kinds, and nobody who looks after their objects.
async fn without_operator(world: &World) -> Btp {
    let with = json!({"id": RUNTIME, "btp": "silent"});
    world.running.landscape.order("runtimes", "scenario", &with).unwrap();
    let definitions = simulators::runtime::definitions().into_iter();
    for one in definitions.filter(|one| one["spec"]["group"] == "services.cloud.sap.com") {
        world.put(RUNTIME, &one);
    }
    world.btp().await
}

fn make(world: &World, kind: &str, namespace: &str, name: &str, finalizers: &[&str]) {
    world.put(
        RUNTIME,
        &json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace},
        }),
    );
    world.put(
        RUNTIME,
        &json!({
            "apiVersion": "services.cloud.sap.com/v1", "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "finalizers": finalizers},
            "spec": {"serviceInstanceName": "i"},
        }),
    );
}

#[tokio::test]
async fn a_runtime_without_the_kinds_is_clean() {
    let world = World::new().await;
    let btp = world.btp().await;

    assert!(btp.left().await.unwrap().is_clean());
    assert!(btp.delete_services().await.unwrap().is_clean());
    assert_eq!(btp.strip_finalizers().await.unwrap(), 0);
}

#[tokio::test]
async fn everything_in_all_namespaces_goes_once_the_operator_lets_go() {
    let world = World::new().await;
    let btp = with_kinds(&world).await;
    for namespace in ["a", "b"] {
        make(&world, "ServiceBinding", namespace, "x", &[]);
        make(&world, "ServiceInstance", namespace, "i", &[]);
    }

    let before = btp.delete_services().await.unwrap();
    for _ in 0..500 {
        if btp.left().await.unwrap().is_clean() {
            break;
        }
        world.clock.sleep(Duration::from_millis(20)).await;
    }

    assert_eq!(before, RemainingServices { bindings: 2, instances: 2 });
    assert!(btp.left().await.unwrap().is_clean());
}

#[tokio::test]
async fn what_the_operator_never_lets_go_of_goes_without_its_finalizers() {
    let world = World::new().await;
    let btp = without_operator(&world).await;
    make(&world, "ServiceBinding", "default", "b", &["a.example/b"]);
    make(&world, "ServiceInstance", "default", "i", &["a.example/b"]);
    make(&world, "ServiceInstance", "default", "stays", &["a.example/b"]);

    btp.delete_services().await.unwrap();
    make(&world, "ServiceInstance", "default", "new", &["a.example/b"]);
    let held = btp.left().await.unwrap();
    let stripped = btp.strip_finalizers().await.unwrap();
    let left = btp.left().await.unwrap();

    assert_eq!(held, RemainingServices { bindings: 1, instances: 3 });
    assert_eq!(stripped, 3);
    // Nobody has deleted it.
    assert_eq!(left, RemainingServices { bindings: 0, instances: 1 });
    assert!(world.object(RUNTIME, INSTANCES, "default", "new").is_some());
}

#[tokio::test]
async fn bindings_go_after_every_fault() {
    let world = World::new().await;
    let btp = without_operator(&world).await;

    for (method, path) in [("GET", LIST), ("DELETE", IN_NAMESPACE)] {
        for_each_fault(
            world.side(),
            row("runtimes", method, path),
            |fault| match fault {
                Fault::Status(404) if method == "DELETE" => Some(Expected::Works),
                other => changed(other),
            },
            async |_| {
                make(&world, "ServiceBinding", "default", "b", &[]);
                btp.delete_services().await
            },
            |_, _| assert!(world.all(RUNTIME, BINDINGS).is_empty()),
        )
        .await;
    }
}

#[tokio::test]
async fn finalizers_go_after_every_fault() {
    let world = World::new().await;
    let btp = without_operator(&world).await;

    for_each_fault(
        world.side(),
        row("runtimes", "PUT", IN_NAMESPACE),
        |fault| match fault {
            Fault::Status(404) => Some(Expected::Works),
            other => changed(other),
        },
        async |_| {
            if world.object(RUNTIME, BINDINGS, "default", "b").is_none() {
                make(&world, "ServiceBinding", "default", "b", &["a.example/b"]);
            }
            btp.delete_services().await?;
            btp.strip_finalizers().await
        },
        |_, _| assert!(world.all(RUNTIME, BINDINGS).is_empty()),
    )
    .await;
}
