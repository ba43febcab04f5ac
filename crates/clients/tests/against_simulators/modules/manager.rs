//! The BTP operator's credentials and the cluster's id in a runtime; every fault, and the repetition.

use clients::{
    Kind,
    btp::{ManagerCredentials, ManagerState},
};
use serde_json::json;

use super::{
    faults::{Expected, Fault, for_each_fault},
    world::{RUNTIME, World, changed, row},
};

const SECRETS: &str = "/clusters/runtime/api/v1/namespaces/kyma-system/secrets";
const MAPS: &str = "/clusters/runtime/api/v1/namespaces/kyma-system/configmaps";

fn credentials(number: usize) -> ManagerCredentials {
    ManagerCredentials {
        client_id: "sb-1!b1".to_owned().into(),
        client_secret: format!("s3cret \"\\\n ü {number}").into(),
        service_manager_url: "https://sm.example".into(),
        token_url: "https://uaa.example".into(),
        cluster_id: number.to_string(),
    }
}

#[tokio::test]
async fn the_credentials_are_those_given_after_every_fault() {
    let world = World::new().await;
    let btp = world.btp().await;
    let first = btp.write_manager(&credentials(0)).await.unwrap();
    assert_eq!(first.foreign_owner, None);

    for method in ["PUT", "GET"] {
        for_each_fault(
            world.side(),
            row("runtimes", method, SECRETS),
            |fault| match fault {
                Fault::Status(404) if method == "GET" => Some(Expected::Works),
                other => changed(other),
            },
            async |number| btp.write_manager(&credentials(number)).await,
            |number, _| {
                let name = "sap-btp-manager";
                let found = world.object(RUNTIME, "secrets", "kyma-system", name).unwrap();
                assert!(found["data"]["clientsecret"].is_string(), "{number}");
            },
        )
        .await;
    }
    let last = credentials(Fault::ALL.len() - 1);
    assert_eq!(btp.manager(&last).await.unwrap(), ManagerState::Same);
    let found = world.object(RUNTIME, "secrets", "kyma-system", "sap-btp-manager").unwrap();
    let (labels, owner) = (&found["metadata"]["labels"], "kcp-kyma-environment-broker");
    assert_eq!(labels["app.kubernetes.io/managed-by"], owner);
    assert_eq!(labels["app.kubernetes.io/watched-by"], owner);
    assert!(found["metadata"]["annotations"]["Warning"].is_string());
    assert_eq!(found["type"], "Opaque");
}

#[tokio::test]
async fn a_secret_of_somebody_else_is_told_of_and_overwritten() {
    let world = World::new().await;
    let btp = world.btp().await;
    assert_eq!(btp.manager(&credentials(1)).await.unwrap(), ManagerState::Missing);
    btp.write_manager(&credentials(0)).await.unwrap();
    world.put(
        RUNTIME,
        &json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "sap-btp-manager", "namespace": "kyma-system",
                "labels": {"app.kubernetes.io/managed-by": "them"}},
        }),
    );

    let different = btp.manager(&credentials(1)).await.unwrap();
    let written = btp.write_manager(&credentials(1)).await.unwrap();

    assert_eq!(different, ManagerState::Different(vec!["clientsecret", "cluster_id"]));
    assert_eq!(written.foreign_owner.as_deref(), Some("them"));
    assert_eq!(btp.manager(&credentials(1)).await.unwrap(), ManagerState::Same);
    assert_eq!(btp.write_manager(&credentials(1)).await.unwrap().foreign_owner, None);
}

#[tokio::test]
async fn a_secret_with_the_label_is_left_alone_where_it_differs() {
    let world = World::new().await;
    let btp = world.btp().await;
    btp.write_manager(&credentials(0)).await.unwrap();
    for (word, state) in [
        ("true", ManagerState::LeftAlone),
        ("false", ManagerState::Different(vec!["clientsecret", "cluster_id"])),
    ] {
        let labels = json!({"kyma-project.io/skip-reconciliation": word});
        let metadata =
            json!({"name": "sap-btp-manager", "namespace": "kyma-system", "labels": labels});
        world.put(RUNTIME, &json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata}));

        assert_eq!(btp.manager(&credentials(1)).await.unwrap(), state, "{word}");
        assert_eq!(btp.manager(&credentials(0)).await.unwrap(), ManagerState::Same, "{word}");
    }
}

#[tokio::test]
async fn the_clusters_id_is_the_first_one_that_was_written() {
    let world = World::new().await;
    let btp = world.btp().await;

    let first = btp.cluster_id("first").await.unwrap();
    let second = btp.cluster_id("second").await.unwrap();

    assert_eq!((first.as_str(), second.as_str()), ("first", "first"));
    for_each_fault(
        world.side(),
        row("runtimes", "GET", MAPS),
        |fault| match fault {
            // Making it finds that it is there.
            Fault::Status(404) => Some(Expected::Works),
            other => changed(other),
        },
        async |_| btp.cluster_id("other").await,
        |_, id| assert_eq!(id, "first"),
    )
    .await;
}

#[tokio::test]
async fn a_runtime_that_lets_nobody_in_says_so() {
    let world = World::new().await;
    let btp = world.btp().await;
    let refuse = json!({"id": RUNTIME});
    world.running.landscape.order("runtimes", "refuse", &refuse).unwrap();

    let refused = btp.write_manager(&credentials(1)).await.unwrap_err();
    world.running.landscape.order("runtimes", "accept", &refuse).unwrap();

    assert_eq!(refused.kind, Kind::Unavailable, "{refused:?}");
    btp.write_manager(&credentials(1)).await.unwrap();
}
