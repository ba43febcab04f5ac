//! The Secret with a runtime's kubeconfig: written, found by its label, removed; every fault, and the repetition.

use clients::Kind;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{
    faults::{Expected, Fault, for_each_fault},
    world::{NAMESPACE, World, changed, marks, row},
};

const PATH: &str = "/clusters/kcp/api/v1/namespaces/kcp-system/secrets";

fn kubeconfig(number: usize) -> SecretString {
    format!("kubeconfig {number}").into()
}

#[tokio::test]
async fn a_kubeconfig_is_written_and_found_after_every_fault() {
    let world = World::new().await;
    let modules = world.modules().await;
    let mine = marks(&[("kyma-project.io/runtime-id", "r")]);

    for_each_fault(
        world.side(),
        row("control-plane", "POST", PATH),
        changed,
        async |number| {
            modules.write_kubeconfig(&format!("k-{number}"), &kubeconfig(number), &mine).await
        },
        |number, ()| {
            let name = format!("kubeconfig-k-{number}");
            let found = world.object("kcp", "secrets", NAMESPACE, &name).unwrap();
            assert_eq!(found["metadata"]["labels"]["kyma-project.io/runtime-id"], "r");
        },
    )
    .await;
    for method in ["PUT", "GET"] {
        for_each_fault(
            world.side(),
            row("control-plane", method, PATH),
            |fault| match fault {
                // It is not there, it seems; making it finds that it is.
                Fault::Status(404) if method == "GET" => Some(Expected::Works),
                other => changed(other),
            },
            async |number| modules.write_kubeconfig("k-0", &kubeconfig(number), &mine).await,
            |_, ()| {},
        )
        .await;
    }
    let last = modules.find_kubeconfig("k-0").await.unwrap().unwrap();
    assert_eq!(last.expose_secret(), kubeconfig(Fault::ALL.len() - 1).expose_secret());
    assert_eq!(world.kubeconfigs(), Fault::ALL.len());
}

#[tokio::test]
async fn a_kubeconfig_goes_after_every_fault() {
    let world = World::new().await;
    let modules = world.modules().await;
    for number in 0..Fault::ALL.len() {
        let name = format!("k-{number}");
        modules.write_kubeconfig(&name, &kubeconfig(number), &marks(&[])).await.unwrap();
    }

    for_each_fault(
        world.side(),
        row("control-plane", "DELETE", PATH),
        |fault| match fault {
            Fault::Status(404) => Some(Expected::Works),
            other => changed(other),
        },
        async |number| modules.remove_kubeconfig(&format!("k-{number}")).await,
        |_, _| {},
    )
    .await;
    assert_eq!(world.kubeconfigs(), 0);
}

#[tokio::test]
async fn finding_a_kubeconfig_takes_exactly_one_secret_with_something_in_it() {
    let world = World::new().await;
    let modules = world.modules().await;
    let put = |name: &str, kyma: &str, data: serde_json::Value| {
        world.put(
            "kcp",
            &json!({
                "apiVersion": "v1", "kind": "Secret", "data": data,
                "metadata": {"name": name, "namespace": NAMESPACE,
                    "labels": {"operator.kyma-project.io/kyma-name": kyma}},
            }),
        );
    };
    put("kubeconfig-empty", "empty", json!({"config": ""}));
    put("one", "twice", json!({"config": "eA=="}));
    put("two", "twice", json!({"config": "eA=="}));

    let none = modules.find_kubeconfig("nobody").await.unwrap();
    let empty = modules.find_kubeconfig("empty").await.unwrap_err();
    let by_runtime = modules.kubeconfig_of("empty").await.unwrap_err();
    let twice = modules.find_kubeconfig("twice").await.unwrap_err();

    assert!(none.is_none() && modules.kubeconfig_of("nobody").await.unwrap().is_none());
    // A writer that replaces a kubeconfig may empty it first.
    assert_eq!((empty.kind, by_runtime.kind), (Kind::Unavailable, Kind::Unavailable));
    assert_eq!(twice.kind, Kind::Conflict);
}

#[tokio::test]
async fn looking_for_a_kubeconfig_meets_every_fault() {
    let world = World::new().await;
    let modules = world.modules().await;
    modules.write_kubeconfig("k", &kubeconfig(1), &marks(&[])).await.unwrap();

    for_each_fault(
        world.side(),
        row("control-plane", "GET", PATH),
        changed,
        async |_| modules.find_kubeconfig("k").await,
        |_, found| assert_eq!(found.unwrap().expose_secret(), kubeconfig(1).expose_secret()),
    )
    .await;
}
